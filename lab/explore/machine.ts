import { step } from '../../src/payments/machine/machine.js';
import { collectedBy, sentBy } from '../../src/payments/machine/refunds.js';
import { objectionTo } from '../../src/payments/machine/requests.js';
import { sentIf } from '../../src/payments/machine/sending.js';
import { openPayment } from '../../src/payments/words/payment-state.js';
import type { Machine } from './situation.js';

/** The product's own machine. */
export const MACHINE: Machine = { openPayment, step, objectionTo, sentIf, sentBy, collectedBy };
