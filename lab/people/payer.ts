import { RequestError } from 'got';
import type { PlannedVisit } from '../plan/planned-payment.js';
import type { PeopleContext } from './context.js';
import type { ObservedPayment } from './observed-payment.js';

/** Gives the payer the link: the payer visits the checkout page as planned. */
export function sendPayer(record: ObservedPayment, link: string, endsAt: number, context: PeopleContext): void {
  const { timeline, payers, actions, now } = context;
  for (const visit of record.planned.visits) {
    const go = (tries: number) => async () => {
      const outcome = await visitPage(link, visit, context);
      actions.add(`payer: ${visit.action} ${outcome}`);
      if (outcome !== 'unreached') return;
      if (tries < payers.maxTries) timeline.at(now() + payers.pauseMs, go(tries + 1));
      else actions.add('payer: gave up');
    };
    if ('afterMs' in visit.time) timeline.at(now() + visit.time.afterMs, go(1));
    else timeline.exactly(endsAt - visit.time.beforeEndMs, go(1));
  }
}

/** One visit. Whether the link can still be paid or declined is for the page to say. */
async function visitPage(
  link: string,
  visit: PlannedVisit,
  { payers }: PeopleContext,
): Promise<'done' | 'refused' | 'unreached'> {
  try {
    if (visit.action === 'look') {
      await payers.look(link);
      return 'done';
    }
    const { action } = visit;
    const press = () => payers.press(link, action === 'pay' ? { action, phone: visit.phone } : { action });
    await Promise.all(action === 'pay' && visit.twice ? [press(), press()] : [press()]);
    return 'done';
  } catch (error) {
    return error instanceof RequestError ? 'unreached' : 'refused';
  }
}
