import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { InitiationOutcome } from '../../src/payments/words/outcome.js';

const { send } = proxyActivities<{ send: () => Promise<InitiationOutcome> }>({
  startToCloseTimeout: '10 s',
  retry: { maximumAttempts: 1 },
});

/** Acts like a payment that waits before it is sent: hands over to a next run a number of times, and then sends. */
export async function handOverThenSend(handOvers: number): Promise<InitiationOutcome> {
  if (handOvers > 0) return await continueAsNew<typeof handOverThenSend>(handOvers - 1);
  return await send();
}
