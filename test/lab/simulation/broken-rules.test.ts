import { beforeAll, describe, expect, it } from '@jest/globals';
import { runSimulation, type SimulationReport } from '../../../lab/simulation/run-simulation.js';
import type { WorkerCalls, WrapCalls } from '../../../lab/world/worker-parts.js';
import type { ProviderClient } from '../../../src/provider/client.js';
import { useSimulationBundle } from './simulation-bundle.js';

const bundle = useSimulationBundle();

/** As few as meet every fault below with the right seed. */
const PAYMENTS = 20;

/**
 * Seeds with which the provider makes three of the payments twice by itself, and rejects a payout. The one world of so
 * few payments has `2506/0` for its own.
 */
const DOUBLED = 2506;
const REJECTED = 3;

let begin: () => void;
const begun = new Promise<void>((resolve) => {
  begin = resolve;
});
beforeAll(() => begin());

/** Simulations before the next three: as many at the same time, as each waits for most of its time. */
const before = [begun, begun, begun];

/** Changes both services of the provider. */
const withBoth = (calls: WorkerCalls, change: (service: ProviderClient) => Partial<ProviderClient>): WorkerCalls => ({
  ...calls,
  providers: {
    collection: { ...calls.providers.collection, ...change(calls.providers.collection) },
    payout: { ...calls.providers.payout, ...change(calls.providers.payout) },
  },
});

/** A simulation of a Sanaga with a fault of its own, in what its worker calls; played beside others of this file. */
function simulation(seed: number, wrapCalls: WrapCalls): () => Promise<SimulationReport> {
  const report = Promise.resolve(before.shift()).then(() =>
    runSimulation({ payments: PAYMENTS, seed, wrapCalls, workflowBundle: bundle.path }),
  );
  before.push(
    report.then(
      () => undefined,
      () => undefined,
    ),
  );
  return () => report;
}

describe('a simulation of a Sanaga that breaks a rule', () => {
  const sentAgain = simulation(2, (calls) =>
    withBoth(calls, (service) => ({
      async directPay(request, call) {
        const outcome = await service.directPay(request, call);
        return outcome.kind === 'ambiguous' ? await service.directPay(request, call) : outcome;
      },
      async payout(request, call) {
        const outcome = await service.payout(request, call);
        return outcome.kind === 'ambiguous' ? await service.payout(request, call) : outcome;
      },
    })),
  );
  it('catches money that is sent again when nobody knows whether it was taken', async () => {
    const { result } = await sentAgain();
    expect(result.invariants.doublePaid).toBeGreaterThan(0);
    expect(result.invariants.oversent).toBeGreaterThan(0);
  });

  const believed = simulation(2, (calls, lastStatus) =>
    withBoth(calls, (service) => ({
      async paymentStatus(transId, call) {
        const answer = await service.paymentStatus(transId, call);
        const status = lastStatus(transId);
        if (answer.kind !== 'found' || (status !== 'SUCCESSFUL' && status !== 'FAILED')) return answer;
        return { ...answer, transaction: { ...answer.transaction, status } };
      },
    })),
  );
  it('catches a notification that is believed', async () => {
    const { result } = await believed();
    expect(result.invariants.wrongOutcome).toBeGreaterThan(0);
    expect(result.invariants.notifiedWrong).toBeGreaterThan(0);
  });

  const lied = simulation(1, (calls) => ({
    ...calls,
    merchant: {
      notifyMerchant: async (notification) =>
        await calls.merchant.notifyMerchant(
          notification.payment.status === 'FAILED'
            ? { ...notification, payment: { ...notification.payment, status: 'SUCCESSFUL' } }
            : notification,
        ),
    },
  }));
  it('catches a merchant who is told another status than the payment has', async () => {
    const { result } = await lied();
    expect(result.invariants.notifiedWrong).toBeGreaterThan(0);
    expect(result.invariants.wrongOutcome).toBe(0);
  });

  const silent = simulation(1, (calls) => ({
    ...calls,
    merchant: {
      notifyMerchant: async (notification) =>
        notification.type === 'payment.review'
          ? { kind: 'delivered' }
          : await calls.merchant.notifyMerchant(notification),
    },
  }));
  it('catches a review that the merchant is never told of', async () => {
    const { result } = await silent();
    expect(result.invariants.unnotified).toBeGreaterThan(0);
  });

  const blind = simulation(DOUBLED, (calls) => {
    const first = new Map<string, string>();
    const isFirst = ({ transId, externalId = '' }: { transId: string; externalId?: string | undefined }) => {
      first.set(externalId, first.get(externalId) ?? transId);
      return first.get(externalId) === transId;
    };
    return withBoth(calls, (service) => ({
      async paymentStatus(transId, call) {
        const answer = await service.paymentStatus(transId, call);
        const isKnown = answer.kind !== 'found' || isFirst(answer.transaction);
        return isKnown ? answer : { kind: 'unknown', message: 'unknown', statusCode: 404 };
      },
      async transactionsOf(id, isDirect, call) {
        const answer = await service.transactionsOf(id, isDirect, call);
        return answer.kind === 'listed' ? { ...answer, transactions: answer.transactions.filter(isFirst) } : answer;
      },
    }));
  });
  it('catches a transaction beside the first that nobody is asked about', async () => {
    const { result, actions } = await blind();
    expect(actions).toHaveProperty(['provider:doubled']);
    expect(result.invariants.unnoticed).toBeGreaterThan(0);
  });

  const eager = simulation(REJECTED, (calls) =>
    withBoth(calls, (service) => ({
      // The worker's own limit counts each as one.
      async paymentStatus(transId, call) {
        for (let times = 1; times <= 6; times++) await service.paymentStatus(transId, call);
        return await service.paymentStatus(transId, call);
      },
      async payout(request, call) {
        const outcome = await service.payout(request, call);
        return outcome.kind === 'rejected' ? await service.payout(request, call) : outcome;
      },
    })),
  );
  it('catches a provider that is asked too often, and money that is sent once too often, whatever became of it', async () => {
    const { result } = await eager();
    expect(result.invariants.overLimit).toBeGreaterThan(0);
    expect(result.invariants.oversent).toBeGreaterThan(0);
    expect(result.invariants.doublePaid).toBe(0);
  });
});
