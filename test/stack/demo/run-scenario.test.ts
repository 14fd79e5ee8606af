import { describe, expect, it } from '@jest/globals';
import type { PaymentAnswer } from '../../../stack/demo/merchant.js';
import type { Row } from '../../../stack/demo/row.js';
import { runScenario, type Stage } from '../../../stack/demo/run-scenario.js';
import type { Scenario } from '../../../stack/demo/scenarios.js';
import { payment, scenario } from './rows.js';

const created: PaymentAnswer = { ...payment, status: 'CREATED', final: false };

/** A stage on which the payment comes to `outcome`, and the merchant is notified of `told`. */
function stage(outcome: PaymentAnswer, told: PaymentAnswer = outcome, asked: unknown[] = []): Stage {
  const refuse = () => Promise.reject(new Error('not in this scenario'));
  return {
    merchant: {
      async create(...request) {
        asked.push(request);
        return created;
      },
      async watch(_, __, { onLook = () => undefined }) {
        onLook(outcome);
        return outcome;
      },
      get: refuse,
      expire: refuse,
    },
    hook: { notices: () => [{ type: 'payment.succeeded', data: told }] },
    world: { pay: refuse, decline: refuse, seen: refuse, expire: refuse, loseNotifications: refuse },
    countEvents: async () => 17,
    run: 'run1',
    onChange: () => undefined,
  };
}

const play = (played: Scenario, on: Stage): Promise<Row> => runScenario(played, on);

describe('a scenario', () => {
  it('is right when the payment ends as it says, and the merchant knows', async () => {
    const row = await play(scenario, stage(payment));
    expect(row).toMatchObject({ payment, events: 17, done: true, problems: [] });
    expect(row.ms).toBeGreaterThanOrEqual(0);
  });

  it('asks for its payment, with a key of this run', async () => {
    const asked: unknown[] = [];
    await play(scenario, stage(payment, payment, asked));
    expect(asked).toEqual([[scenario.path, scenario.body, 'run1 link, paid']]);
  });

  it('is wrong when the payment ends otherwise', async () => {
    const row = await play(scenario, stage({ ...payment, status: 'FAILED' }));
    expect(row).toMatchObject({ done: true, problems: ['FAILED in place of SUCCESSFUL'] });
  });

  it('is wrong when the merchant was notified of another outcome only', async () => {
    const row = await play(scenario, stage(payment, { ...payment, status: 'FAILED', final: false }));
    expect(row.problems).toEqual(['the merchant was not notified of the outcome']);
  }, 20_000);

  it('is wrong when somebody in it cannot play their part', async () => {
    const unpaid: Scenario = { ...scenario, act: (_, { pay }) => pay('link', '677000000') };
    const row = await play(unpaid, stage(payment));
    expect(row).toMatchObject({ done: true, problems: ['not in this scenario'] });
  });
});
