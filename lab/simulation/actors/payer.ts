import got, { RequestError } from 'got';
import type { PaymentRecord } from '../payment-record.js';
import { MINUTE } from '../plan/durations.js';
import type { PlannedVisit } from '../plan/plan-payer.js';
import type { Cast } from './cast.js';

/** Tries of a visit when the checkout page can't be reached, and the ms between them. */
const TRIES = 3;
const AGAIN_MS = 20 * MINUTE;
/** Real ms that the page may take. */
const LIMIT_MS = 10_000;

/** Gives the payer the link: the payer comes as planned, and does at the checkout page what was planned. */
export function sendPayer(record: PaymentRecord, link: string, endsAt: number, cast: Cast): void {
  for (const visit of record.planned.visits) {
    const go = (tries: number) => async () => {
      const reached = await pay(link, visit);
      cast.tally.add(reached ? `payer:${visit.action}` : 'payer:unreached');
      if (!reached && tries < TRIES) cast.timeline.at(cast.now() + AGAIN_MS, go(tries + 1));
    };
    if ('afterMs' in visit.time) cast.timeline.at(cast.now() + visit.time.afterMs, go(1));
    else cast.timeline.exactly(endsAt - visit.time.beforeEndMs, go(1));
  }
}

/** One visit; `false` when the page couldn't be reached. Whether the link can still be paid is the page's to say. */
async function pay(link: string, visit: PlannedVisit): Promise<boolean> {
  try {
    if (visit.action === 'look') {
      await call(link, undefined);
      return true;
    }
    const phone = visit.action === 'pay' ? visit.phone : '';
    const press = () => call(link, { action: visit.action, phone, medium: '', email: '' });
    await Promise.all(visit.action === 'pay' && visit.twice ? [press(), press()] : [press()]);
    return true;
  } catch (error) {
    if (error instanceof RequestError) return false;
    throw error;
  }
}

async function call(link: string, form: Record<string, string> | undefined): Promise<void> {
  await got(link, {
    ...(form && { method: 'POST', form }),
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    timeout: { request: LIMIT_MS },
  });
}
