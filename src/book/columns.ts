import { z } from 'zod';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';

/** Columns of rows, as they are read. */

export const paymentId = z.string().transform((id) => id as PaymentId);
export const transId = z.string().transform((id) => id as TransId);

/** A time, in ms since the epoch. */
export const time = z.date().transform((date) => date.getTime());
