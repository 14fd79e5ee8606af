import { refuseNoObject, said } from './arguments.js';
import { type WebhookRefusal, WebhookVerificationError } from './errors.js';
import type { WebhookEvent } from './types.js';

/** A request's headers: those of fetch, of Node, or a plain object. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** Largest difference between the time of signing and this machine's clock, in ms: 5 minutes by default. */
  readonly toleranceMs?: number;
}

const TOLERANCE_MS = 5 * 60_000;

/** Characters of a header, far more than Sanaga sends: an id, a time, and a signature for each of two secrets. */
const MAX_HEADER_LENGTH = 1_000;

/** Number of secrets that are tried, each with one computation. */
const MAX_SECRETS = 10;

/**
 * Verifies a notification by Standard Webhooks, and returns its event.
 *
 * @param body the raw body, before any JSON parser has touched it
 * @param secrets the secret of your webhook address (`whsec_…`), or several while it is being changed
 * @throws {WebhookVerificationError} when it isn't Sanaga's, or not of this moment: answer 400
 * @throws {TypeError} for a body that was parsed already, a secret that isn't one, or a tolerance that can't be right
 *
 * @example
 * const { data } = await verifyWebhook(await request.text(), request.headers, process.env.SANAGA_WEBHOOK_SECRET);
 * // A payout can have an order's externalId, too.
 * if (data.kind === 'collection' && data.final) await settle(data.externalId, data.status, data.amountPaid);
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  refuseNoObject('headers', headers);
  refuseNoObject('options', options);
  const { toleranceMs = TOLERANCE_MS } = options;
  const keys = (Array.isArray(secrets) ? secrets : [secrets]).map(toKey);
  if (keys.length === 0) throw new TypeError('verifyWebhook needs a secret');
  if (keys.length > MAX_SECRETS) throw new TypeError(`verifyWebhook takes at most ${MAX_SECRETS} secrets`);
  if (!Number.isFinite(toleranceMs) || toleranceMs < 0) {
    throw new TypeError(`toleranceMs must be a number of ms from 0, and not ${said(toleranceMs)}`);
  }
  const bytes = toBytes(body);
  const id = required(headers, 'webhook-id');
  const timestamp = required(headers, 'webhook-timestamp');
  const signatures = required(headers, 'webhook-signature');

  checkTime(timestamp, toleranceMs);
  const signed = concat(encode(`${id}.${timestamp}.`), bytes);
  if (!(await isSigned(signed, signatures, keys))) {
    throw refused('wrong_signature', 'The webhook has no signature that was made with this secret.');
  }
  return toEvent(id, bytes);
}

function checkTime(timestamp: string, toleranceMs: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw refused('invalid_timestamp', 'The header webhook-timestamp is not a time in seconds.');
  }
  const ageMs = Date.now() - Number(timestamp) * 1_000;
  const seconds = Math.round(Math.abs(ageMs) / 1_000);
  if (ageMs > toleranceMs) {
    throw refused('too_old', `The webhook was signed ${seconds} s ago: it is old, or the clock here is fast.`);
  }
  if (ageMs < -toleranceMs) {
    throw refused('too_new', `The webhook was signed ${seconds} s in the future: the clock here is slow.`);
  }
}

/** One computation for each secret, however many signatures there are: a stranger chooses these. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  secrets: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const given = signatures.split(' ').flatMap((entry) => {
    const [version, signature = ''] = entry.split(',');
    return version === 'v1' ? (fromBase64(signature) ?? []) : [];
  });
  if (given.length === 0) return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign']);
    const right = new Uint8Array(await crypto.subtle.sign(algorithm, key, signed));
    if (given.some((signature) => isSame(signature, right))) return true;
  }
  return false;
}

/** Compares in constant time, so that nobody can find a signature byte by byte. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;
}

function toEvent(id: string, bytes: Uint8Array): WebhookEvent {
  const said = parse(new TextDecoder().decode(bytes));
  if (!isNotification(said)) {
    throw refused('invalid_payload', 'The webhook is signed correctly, but is not a notification of Sanaga.');
  }
  const { type, timestamp, data } = said;
  return { id, type, timestamp, data };
}

/** Checks that it is a notification at all: the signature shows that Sanaga has written it. */
function isNotification(said: unknown): said is Omit<WebhookEvent, 'id'> {
  if (typeof said !== 'object' || said === null) return false;
  const { type, timestamp, data } = said as Partial<Record<string, unknown>>;
  if (typeof type !== 'string' || typeof timestamp !== 'string') return false;
  if (typeof data !== 'object' || data === null) return false;
  const { id, status, final } = data as Partial<Record<string, unknown>>;
  return typeof id === 'string' && typeof status === 'string' && typeof final === 'boolean';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function required(headers: WebhookHeaders, name: string): string {
  const value = headerOf(headers, name);
  if (value === undefined || value === '') {
    throw refused('missing_header', `The webhook has no header ${name}.`);
  }
  if (value.length > MAX_HEADER_LENGTH) {
    const message = `The webhook has a header ${name} of more than ${MAX_HEADER_LENGTH} characters: it isn't Sanaga's.`;
    throw refused('wrong_signature', message);
  }
  return value;
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (hasGet(headers)) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : value?.[0];
}

function hasGet(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function toKey(secret: string): Uint8Array<ArrayBuffer> {
  const key = typeof secret === 'string' ? fromBase64(secret.trim().replace(/^whsec_/, '')) : undefined;
  // The secret itself stays out of the message.
  if (key === undefined || key.length === 0) {
    throw new TypeError('A webhook secret must be whsec_ and base64, as your operator gave it to you');
  }
  return key;
}

function toBytes(body: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return encode(body);
  // `instanceof` would miss the buffers of another realm, such as an edge runtime's.
  const isBuffer = ArrayBuffer.isView(body) || Object.prototype.toString.call(body) === '[object ArrayBuffer]';
  if (isBuffer) return Uint8Array.from(new Uint8Array(body));
  throw new TypeError('verifyWebhook needs the raw body, as text or bytes: verify it before you parse it');
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(text));
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function refused(reason: WebhookRefusal, message: string): WebhookVerificationError {
  return new WebhookVerificationError(reason, message);
}
