import type { PaymentSinks } from '../../src/workflows/metrics.js';

/** Sinks for tests that don't count the workflows' reports. */
export const noMeasures: PaymentSinks['payments'] = {
  changed: () => undefined,
  becameAmbiguous: () => undefined,
  waitsForBudget: () => undefined,
  gaveUpNotification: () => undefined,
};
