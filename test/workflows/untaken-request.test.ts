import { readFile } from 'node:fs/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Act,
  actOf,
  askingLimits,
  givenUpAfter,
  moneyLimits,
  plain,
  typeOf,
} from '../../lab/explore/workflow-commands.js';
import {
  activityJob,
  FIRST_RUN_ID,
  type Job,
  queryJob,
  startJob,
  takenBackJob,
  timedOutJob,
  timerJob,
  valuesOf,
  type WorkflowRun,
  WorkflowVm,
} from '../../lab/explore/workflow-vm.js';
import type { SentIf } from '../../src/payments/machine/sending.js';
import { serviceOf } from '../../src/payments/words/order.js';
import type { PaymentState } from '../../src/payments/words/payment-state.js';
import type { EndedState } from '../../src/workflows/messages.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { directOrder, MINUTE, payoutOrder, START, terms } from '../support/orders.js';

const SECOND = 1_000;
/** Time at which Temporal gives up waiting for a worker. */
const GIVEN_UP = START + 10 * MINUTE;

let vm: WorkflowVm;
beforeAll(async () => {
  vm = await WorkflowVm.create(await readFile(workflowBundle().codePath, 'utf8'));
});

describe.each([
  ['payOut', payoutOrder],
  ['directPay', directOrder],
])('a request that moves money (%s)', (activity, order) => {
  const request = (when: SentIf) => ['activity', activity, moneyLimits(terms, when), order, when];
  const whetherReset = ['local', 'mayHaveBeenReset', askingLimits(terms), FIRST_RUN_ID];
  const isDirect = order.kind === 'direct';
  const whetherListed = [
    'local',
    'lookUp',
    askingLimits(terms),
    { service: serviceOf(order), paymentId: order.id, isDirect },
  ];
  const unavailable = { kind: 'unavailable', reason: 'no answer' };

  let run: WorkflowRun;
  beforeEach(async () => {
    run = await vm.run(typeOf(order), START, { workflowId: order.id });
    const input = { v: 1, order, terms, fingerprint: 'a fingerprint', requestId: 'a request' } as const;
    expect(await acts(startJob(typeOf(order), input, START))).toContainEqual(plain(request('unread')));
  });

  afterEach(() => run.dispose());

  /** Returns the workflow's acts when Temporal has given it a job. */
  async function acts(job: Job, now = START): Promise<Act[]> {
    const commands = await run.activate([job], { now });
    return plain(commands.flatMap(actOf)) as Act[];
  }

  async function payment(): Promise<PaymentState> {
    const [command] = await run.activate([queryJob('payment')], { now: GIVEN_UP });
    const [{ state }] = valuesOf([command?.respondToQuery?.succeeded?.response ?? {}]) as [EndedState];
    return state;
  }

  it('that no worker has taken is not in doubt once nothing shows that it was sent before, and is sent again', async () => {
    expect(await acts(timedOutJob(1, activity, 'SCHEDULE_TO_START'), GIVEN_UP)).toEqual([
      ['cancelTimer'],
      plain(whetherReset),
    ]);
    expect(await acts(activityJob(2, true, false), GIVEN_UP)).toEqual([plain(whetherListed)]);
    const listed = { kind: 'listed', transactions: [] };
    expect(await acts(activityJob(3, true, listed), GIVEN_UP)).toEqual([['timer', SECOND]]);
    const { phase } = await payment();
    expect(phase).toMatchObject({
      kind: 'waiting',
      unsent: { hold: 'connection', reason: 'no worker took the request in time' },
    });
    expect(phase).not.toHaveProperty('doubt');
    expect(await acts(timerJob(2), GIVEN_UP + SECOND)).toEqual([
      ['timer', givenUpAfter(terms, 'absent')],
      plain(request('absent')),
    ]);
  });

  it('that a worker has taken before, when no worker takes it once more, is in doubt, and looked up', async () => {
    await acts(timedOutJob(1, activity, 'SCHEDULE_TO_START', 'START_TO_CLOSE'), GIVEN_UP);
    expect(await payment()).toMatchObject({
      phase: { kind: 'searching', ambiguity: { reason: 'the worker was lost before it could report' } },
    });
  });

  it.each([
    ['can not be read', unavailable],
    ['shows it', { kind: 'listed', transactions: [{ transId: 'T1', status: 'PENDING' }] }],
  ])('that no worker has taken counts as unchecked when the list %s', async (_, listed) => {
    await acts(timedOutJob(1, activity, 'SCHEDULE_TO_START'), GIVEN_UP);
    await acts(activityJob(2, true, false), GIVEN_UP);
    await acts(activityJob(3, true, listed), GIVEN_UP);
    expect(await payment()).toMatchObject({ phase: { kind: 'waiting', unsent: { hold: 'unchecked' } } });
  });

  it('that no worker has taken counts as unchecked while Temporal may know of a reset', async () => {
    await acts(timedOutJob(1, activity, 'SCHEDULE_TO_START'), GIVEN_UP);
    await acts(activityJob(2, true, true), GIVEN_UP);
    expect(await payment()).toMatchObject({ phase: { kind: 'waiting', unsent: { hold: 'unchecked' } } });
  });

  it('that Temporal says nothing of, since somebody has paused it, is taken back, in doubt, and looked up', async () => {
    const late = START + givenUpAfter(terms, 'unread');
    expect(await acts(timerJob(1), late)).toEqual([['cancelActivity']]);
    expect(await acts(takenBackJob(1, activity), late)).toEqual([['timer', SECOND]]);
    expect(await payment()).toMatchObject({
      phase: {
        kind: 'searching',
        ambiguity: { reason: 'Temporal did not say in time what became of the request' },
      },
    });
  });

  it('that a worker has taken and not answered is in doubt, and looked up', async () => {
    await acts(timedOutJob(1, activity, 'START_TO_CLOSE'), START + MINUTE);
    expect(await payment()).toMatchObject({
      phase: { kind: 'searching', ambiguity: { reason: 'the worker was lost before it could report' } },
    });
  });
});
