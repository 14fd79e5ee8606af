import { type Site, siteOf } from '../faults/faults.js';
import type { Ledger } from '../ledger.js';
import type { EndpointName } from './endpoint.js';

const text = (body: unknown, field: string): string | undefined => {
  if (typeof body !== 'object' || body === null) return undefined;
  const value: unknown = Reflect.get(body, field);
  return typeof value === 'string' ? value : undefined;
};

/** What a request is about, as far as it says before it is validated: that is what faults are aimed by. */
export function subjectOf(target: EndpointName, body: unknown, parameter: string, ledger: Ledger): Site {
  if (target === 'transaction') return { target, userId: parameter };
  const transId = target === 'payment-status' ? parameter : text(body, 'transId');
  const entry = transId === undefined ? undefined : ledger.find(transId);
  if (entry) return siteOf(target, entry);
  return { target, transId, externalId: text(body, 'externalId'), userId: text(body, 'userId') };
}
