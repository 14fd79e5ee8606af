import { said } from './arguments.js';
import type { RequestOptions, Send } from './transport.js';
import type { Payment } from './types.js';
import type { ApiRequest } from './write-request.js';

/** Fields of every payment. */
export const PAYMENT_FIELDS = ['id', 'status', 'final', 'amount'] as const;

export async function askPayment(
  send: Send,
  request: Omit<ApiRequest, 'expects'>,
  options: RequestOptions | undefined,
): Promise<Payment> {
  return (await send<Payment>({ ...request, expects: PAYMENT_FIELDS }, options)).body;
}

export async function askList<Item>(
  send: Send,
  path: string,
  options: RequestOptions | undefined,
): Promise<readonly Item[]> {
  const request = { method: 'GET', path, changes: 'nothing', expects: ['data'] } as const;
  return (await send<{ readonly data: readonly Item[] }>(request, options)).body.data;
}

/** @throws {TypeError} for a text that can't be a payment's id, and could lead to another address. */
export function pathOf(resource: 'collections' | 'payouts' | 'payments', id: string): string {
  if (typeof id !== 'string' || !/^(col|pay)_[\w-]+$/.test(id)) throw new TypeError(`not a payment's id: ${said(id)}`);
  return `/v1/${resource}/${id}`;
}
