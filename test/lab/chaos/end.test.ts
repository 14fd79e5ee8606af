import { describe, expect, it } from '@jest/globals';
import { lossIn } from '../../../lab/chaos/end.js';
import { type ObservedPayment, observedOf } from '../../../lab/people/observed-payment.js';
import { planChaosPayments } from '../../../lab/plan/chaos-payments.js';

const [planned] = planChaosPayments(1, 1_000, 1);
if (planned === undefined) throw new Error('the plan is empty');
const LOST = { from: 1_000, to: 2_000 };

const lossOf = (seen: Partial<ObservedPayment>) => lossIn({ ...observedOf(planned), taken: true, ...seen }, LOST);

describe('a book that has gone back', () => {
  it('has forgotten what may have been committed since its copy was made', () => {
    const forgotten = { isLost: true, isForgotten: true };
    expect(lossOf({ firstAskedAt: 1_200, takenAt: 1_300 })).toEqual(forgotten);
    // Committed, and answered after the return.
    expect(lossOf({ firstAskedAt: 1_900, takenAt: 2_100 })).toEqual(forgotten);
    // Asked for before the copy, again and again, and perhaps committed after it.
    expect(lossOf({ firstAskedAt: 900, takenAt: 1_100 })).toEqual(forgotten);
  });

  it('has lost the course of what it has known before', () => {
    expect(lossOf({ firstAskedAt: 800, takenAt: 900 })).toEqual({ isLost: true, isForgotten: false });
  });

  it('has lost nothing of what was first asked for after its return, or never taken', () => {
    expect(lossOf({ firstAskedAt: 2_100, takenAt: 2_200 })).toEqual({});
    expect(lossOf({ firstAskedAt: 1_200 })).toEqual({});
    expect(lossOf({ firstAskedAt: 1_200, takenAt: 1_300, refused: true })).toEqual({});
  });
});
