import { MAX_TRANS_ID_LENGTH } from '../payments/words/limits.js';
import { type PaymentId, parsePaymentId, type TransId } from '../payments/words/payment-id.js';
import { PROVIDER_STATUSES, type ProviderStatus } from '../payments/words/transaction.js';
import { type BodyHeaders, parseJson, removeContentCodings, textOf } from './body.js';
import { pathSegment } from './calls.js';
import { paymentIdOf } from './requests.js';

/** A hint: one transaction in a notification. It names the transaction or the payment, and proves nothing. */
export interface HintedTransaction {
  readonly transId?: TransId | undefined;
  readonly status?: ProviderStatus | undefined;
  /** The payment that it is for, by its externalId or its userId. */
  readonly paymentId?: PaymentId | undefined;
  /** The identifier as it was sent: another system's, if it isn't a payment's id. */
  readonly externalId?: string | undefined;
}

/** A notification as it was read. */
export interface Notification {
  /** Empty when no subject could be made out. */
  readonly hints: readonly HintedTransaction[];
  readonly text: string;
}

/** Transactions that one notification may be about. */
const MAX_HINTS = 100;

/** Deepest nesting of objects and lists that is searched. */
const MAX_DEPTH = 16;

/**
 * Reads a notification of the provider. Its documentation doesn't show the layout, so a transaction is accepted
 * wherever it is found: alone, in a list, wrapped in other objects, as JSON within a string, or in the fields of a
 * form. A liberal reading does no harm, as a notification proves nothing; a payment that misses one has to wait for its
 * next poll.
 *
 * @param maxBytes that it may have once it is decompressed
 */
export async function readNotification(
  bytes: Uint8Array,
  headers: BodyHeaders,
  maxBytes: number,
): Promise<Notification> {
  const content = await removeContentCodings(bytes, headers, maxBytes);
  const text = textOf(content, headers);
  const value = parseJson(text) ?? (await fieldsOfForm(content, text, headers));
  const found = hintsIn(value, {}, 0).slice(0, MAX_HINTS);
  return { hints: distinct(found.length > 0 ? found : hintsInText(text)), text };
}

/** Reads the hints in the query of the address that a notification was sent to. */
export function readQuery(address: string): readonly HintedTransaction[] {
  return hintsIn(fieldsByObject(new URL(address, 'http://localhost').searchParams), {}, 0);
}

async function fieldsOfForm(content: Uint8Array, text: string, { contentType = '' }: BodyHeaders): Promise<unknown> {
  if (/^multipart\//i.test(contentType)) {
    try {
      const headers = { 'content-type': contentType };
      const fields = await new Response(new Uint8Array(content), { headers }).formData();
      return fieldsByObject(await Promise.all([...fields].map(withText)));
    } catch {
      return undefined;
    }
  }
  return /^[\w.[\]%-]+=/.test(text) ? fieldsByObject(new URLSearchParams(text)) : undefined;
}

/** A file in a form counts as text. */
async function withText([name, value]: [string, string | File]): Promise<[string, string]> {
  return [name, typeof value === 'string' ? value : await value.text()];
}

/** The fields of a form, by object: `a[0][id]` and `a[1][id]` belong to two objects, and so does a repeated field. */
function fieldsByObject(fields: Iterable<readonly [string, string]>): Record<string, string>[] {
  const objects = new Map<string, Record<string, string>[]>();
  for (const [name, value] of fields) {
    const outer = name.slice(0, Math.max(0, name.lastIndexOf('['), name.lastIndexOf('.')));
    const ofOuter = objects.get(outer) ?? [];
    objects.set(outer, ofOuter);
    const last = ofOuter.at(-1);
    if (last === undefined || Object.hasOwn(last, name)) ofOuter.push({ [name]: value });
    else last[name] = value;
  }
  return [...objects.values()].flat();
}

function hintsIn(value: unknown, outer: HintedTransaction, depth: number): HintedTransaction[] {
  if (depth > MAX_DEPTH) return [];
  if (typeof value === 'string') return /^\s*[{["]/.test(value) ? hintsIn(parseJson(value), outer, depth + 1) : [];
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? {} : fieldsOf(value);
  // Fields around a transaction belong to it; fields around another transaction don't.
  const around = own.transId === undefined ? { ...outer, ...own } : {};
  const inner = Object.values(value).flatMap((each) => hintsIn(each, around, depth + 1));
  if (own.transId !== undefined) return [{ ...outer, ...own }, ...inner];
  return inner.length === 0 && own.paymentId !== undefined ? [around] : inner;
}

/** Names of the fields that identify a transaction, in any spelling: `trans_id`, `data[transId]`. */
function fieldsOf(object: object): HintedTransaction {
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(object)) {
    const [last = ''] = name.replace(/\]$/, '').split(/[[.]/).slice(-1);
    if (typeof value === 'string' || typeof value === 'number') {
      fields.set(last.toLowerCase().replace(/[\s_-]/g, ''), String(value).trim());
    }
  }
  const transId = toTransId(fields.get('transid') ?? fields.get('transactionid'));
  const status = toStatus(fields.get('status'));
  const externalId = fields.get('externalid') || undefined;
  const paymentId = parsePaymentId(externalId) ?? parsePaymentId(paymentIdOf(fields.get('userid') ?? ''));
  return {
    ...(transId !== undefined && { transId }),
    ...(status !== undefined && { status }),
    ...(paymentId !== undefined && { paymentId }),
    ...(externalId !== undefined && { externalId }),
  };
}

/** Returns `undefined` for an id that can't be part of an address: the provider couldn't be asked about it. */
function toTransId(text: string | undefined): TransId | undefined {
  const isOne = text !== undefined && text.length <= MAX_TRANS_ID_LENGTH && pathSegment(text) !== undefined;
  return isOne ? (text as TransId) : undefined;
}

function toStatus(text: string | undefined): ProviderStatus | undefined {
  const upper = text?.toUpperCase();
  return PROVIDER_STATUSES.find((status) => status === upper);
}

/** Matches ids that {@link derivePaymentId} makes, anywhere in a text: in truncated JSON, XML, or anything else. */
const MENTIONED = /\b(?:col|pay)_[0-9a-f]{32}(?![0-9a-f])/g;
/** Matches a transaction's id behind its name, in such a text. */
const TRANSACTION =
  /\btrans(?:action)?[_-]?id\b["'\s]{0,3}[:=>](?:["'\s]{0,3}|<!\[CDATA\[)([\w.-]{1,200})(?=["'<\s,;&}\]])/gi;

function hintsInText(text: string): HintedTransaction[] {
  const payments = [...text.matchAll(MENTIONED)].map(([id]): HintedTransaction => ({ paymentId: parsePaymentId(id) }));
  if (payments.length > 0) return payments.slice(0, MAX_HINTS);
  return [...text.matchAll(TRANSACTION)]
    .map(([, id]) => toTransId(id))
    .filter((transId) => transId !== undefined)
    .map((transId): HintedTransaction => ({ transId }))
    .slice(0, MAX_HINTS);
}

function distinct(found: readonly HintedTransaction[]): readonly HintedTransaction[] {
  return [...new Map(found.map((hint) => [JSON.stringify(hint), hint])).values()];
}
