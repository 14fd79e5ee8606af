import { RequestError } from 'got';
import { atCheckout } from '../../../stack/demo/payer.js';
import type { PlannedVisit } from '../../simulation/plan/plan-payer.js';
import type { ChaosRecord } from '../chaos-record.js';
import { type Scene, wait } from '../scene.js';

/** ms between two tries of a visit while the checkout page can't be reached, and how many there are. */
const AGAIN_MS = 500;
const TRIES = 20;

/** Has the payer come to the link as planned. */
export async function sendPayer(record: ChaosRecord, scene: Scene): Promise<void> {
  const { link, endsAt = Date.now(), planned } = record;
  if (link === undefined) return;
  const given = Date.now();
  await Promise.all(
    planned.visits.map(async (visit) => {
      const { time } = visit;
      const at = 'afterMs' in time ? given + time.afterMs : endsAt - time.beforeEndMs;
      await wait(at - Date.now(), scene);
      await visitPage(link, visit, scene);
    }),
  );
}

async function visitPage(link: string, visit: PlannedVisit, scene: Scene): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const outcome = await act(link, visit);
    if (outcome !== 'unreached') return scene.doings.add(`payer: ${visit.action} ${outcome}`);
    await wait(AGAIN_MS, scene);
  }
  scene.doings.add('payer: gave up');
}

/** Whether the link can still be paid or declined is the page's to say. */
async function act(link: string, visit: PlannedVisit): Promise<'taken' | 'refused' | 'unreached'> {
  if (visit.action === 'look') return 'taken';
  const entry = visit.action === 'pay' ? visit : { action: visit.action };
  const press = () => atCheckout(link, entry);
  try {
    await Promise.all(visit.action === 'pay' && visit.twice ? [press(), press()] : [press()]);
    return 'taken';
  } catch (error) {
    return error instanceof RequestError ? 'unreached' : 'refused';
  }
}
