import type { PaymentMeasures } from '../../src/engine/reports.js';

/** For tests that don't count what turns bring about. */
export const noMeasures: PaymentMeasures = {
  changed: () => undefined,
  becameAmbiguous: () => undefined,
};
