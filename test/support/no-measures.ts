import type { PaymentSinks } from '../../src/workflows/metrics.js';

/** What workflows report, for tests that don't count it. */
export const noMeasures: PaymentSinks['payments'] = {
  changed: () => undefined,
  becameAmbiguous: () => undefined,
  waitsForBudget: () => undefined,
  gaveUpNotification: () => undefined,
};
