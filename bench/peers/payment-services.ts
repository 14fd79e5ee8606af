/*
 * The part of every peer beside its engine, the same for all: settings, the provider's client and the merchant's signed
 * notification. It needs no package, so that each peer can be installed by itself.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** An order for a payment link. */
export interface Order {
  /** The payment's id, which the provider gets as externalId. */
  readonly id: string;
  /** In XAF. */
  readonly amount: number;
  readonly externalId: string;
  readonly message?: string;
}

export interface Link {
  readonly link: string;
  readonly transId: string;
}

/** The provider's transaction, as far as it is needed. */
export interface Transaction {
  readonly transId: string;
  readonly status: 'CREATED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'EXPIRED';
  readonly amount: number;
  readonly externalId: string;
}

/** Reports whether the status is final. */
export const isFinal = ({ status }: Transaction): boolean => status !== 'CREATED' && status !== 'PENDING';

/** @throws Error when it isn't set */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

/** Reports whether a request carries the merchant's key. */
export function isAuthorized(authorization: string | undefined): boolean {
  const expected = Buffer.from(`Bearer ${setting('API_KEY')}`);
  const given = Buffer.from(authorization ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const TIMEOUT_MS = 10_000;

/** `POST /initiate-pay`. @throws Error when the provider doesn't make the link, or doesn't answer */
export async function initiatePay({ id, amount, message }: Order): Promise<Link> {
  const body = JSON.stringify({ amount, externalId: id, userId: id, message });
  const { link, transId } = (await callProvider('initiate-pay', { method: 'POST', body })) as Link;
  return { link, transId };
}

/** `GET /payment-status/{transId}`. @throws Error when the provider doesn't answer */
export async function paymentStatus(transId: string): Promise<Transaction> {
  const { status, amount, externalId } = (await callProvider(`payment-status/${transId}`)) as Transaction;
  return { transId, status, amount, externalId };
}

async function callProvider(path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(`${setting('PROVIDER_URL')}/${path}`, {
    ...init,
    headers: {
      apiuser: setting('PROVIDER_USER'),
      apikey: setting('PROVIDER_KEY'),
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
  return await response.json();
}

/** Notifies the merchant as Standard Webhooks says. @throws Error unless the merchant acknowledges it */
export async function notifyMerchant({ id, externalId }: Order, { status, amount }: Transaction): Promise<void> {
  const webhookId = `evt_${id}_${status.toLowerCase()}`;
  const seconds = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({
    type: status === 'SUCCESSFUL' ? 'payment.succeeded' : 'payment.failed',
    timestamp: new Date().toISOString(),
    data: { id, status, amount, externalId },
  });
  const secret = Buffer.from(setting('WEBHOOK_SECRET').replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', secret).update(`${webhookId}.${seconds}.${body}`).digest('base64');
  const response = await fetch(setting('WEBHOOK_URL'), {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': webhookId,
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${signature}`,
    },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the merchant answered ${response.status}`);
}
