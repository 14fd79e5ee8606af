import { condition, defineQuery, defineUpdate, setHandler, sleep, upsertSearchAttributes } from '@temporalio/workflow';
import { paymentSearchAttributes } from '../../../src/temporal/search-attributes.js';

export const begin = defineUpdate<string, [string]>('begin');
export const begun = defineQuery<string>('begun');

/** A payment's needs of a server, in small: an answer to its start, search attributes, and a day's patience. */
export async function sleepADay(): Promise<string> {
  let name = '';
  setHandler(begun, () => name);
  setHandler(begin, (given) => {
    name = given;
    return `begun by ${given}`;
  });
  await condition(() => name !== '');
  upsertSearchAttributes([
    { key: paymentSearchAttributes.status, value: 'CREATED' },
    { key: paymentSearchAttributes.transId, value: '100' },
  ]);
  await sleep('24 hours');
  upsertSearchAttributes([{ key: paymentSearchAttributes.status, value: 'EXPIRED' }]);
  return name;
}
