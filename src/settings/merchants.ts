import { createHash } from 'node:crypto';
import type { PaymentEventType } from '../payments/words/payment.js';
import { foldedName, type PersonsKey } from '../payments/words/person.js';

/**
 * The merchants of an installation: their API keys, webhook endpoints and limits. They are read from the merchants'
 * file, or from settings that describe one merchant.
 */

export const SCOPES = ['collections', 'payouts', 'refunds', 'approve', 'read', 'balance', 'review'] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key. Only the SHA-256 of its secret is kept, in lower-case hex. */
export interface MerchantKey {
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  /** Who uses it. What is done with it is done by this person; several keys may be one person's. */
  readonly person: string;
}

/** An API key as `API_KEYS` gives it, with the name of its owner, who is the person that uses it if none is named. */
export interface NamedKey extends MerchantKey {
  readonly name: string;
}

/** An address that a merchant's notifications are sent to. */
export interface MerchantWebhook {
  readonly url: string;
  /** One Standard Webhooks secret, or two while it is being changed. */
  readonly secrets: readonly string[];
  /** The types of notifications that it takes; all of them when not given. */
  readonly types?: readonly PaymentEventType[] | undefined;
}

/** Amounts in XAF. A missing one is no limit. */
export interface MerchantLimits {
  readonly maxCollection?: number | undefined;
  readonly maxPayout?: number | undefined;
  /** Limit on the sum of payouts ordered on one calendar day in Cameroon, in XAF. */
  readonly maxPayoutsPerDay?: number | undefined;
  /** A decision on a payout of more takes two people. */
  readonly secondPersonAbove?: number | undefined;
  /** A payout of more waits for the approval of another person than the one who ordered it. */
  readonly approveAbove?: number | undefined;
  /** Longest wait for the approval, in ms. */
  readonly approvalWithin?: number | undefined;
}

export interface Merchant {
  /** Name of the merchant of its payments and Idempotency-Keys. */
  readonly name: string;
  readonly keys: readonly MerchantKey[];
  readonly webhooks: readonly MerchantWebhook[];
  readonly limits: MerchantLimits;
}

/** The settings that describe merchants: the keys of each, or a file. */
interface MerchantSettings {
  readonly API_KEYS?: readonly NamedKey[] | undefined;
  readonly MERCHANTS_FILE?: readonly Merchant[] | undefined;
}

/**
 * Lists the merchants of the settings, whichever of the two describes them.
 *
 * @param limits of a merchant whose entry in the file has none of its own
 */
export function merchantsIn(
  { API_KEYS = [], MERCHANTS_FILE }: MerchantSettings,
  limits: MerchantLimits = {},
): readonly Merchant[] {
  if (MERCHANTS_FILE === undefined) return merchantsOfKeys(API_KEYS, limits);
  return MERCHANTS_FILE.map((merchant) => ({ ...merchant, limits: { ...limits, ...merchant.limits } }));
}

/** Makes a merchant without webhooks of each owner of keys. */
function merchantsOfKeys(keys: readonly NamedKey[], limits: MerchantLimits): Merchant[] {
  const names = [...new Set(keys.map(({ name }) => name))];
  return names.map((name) => ({
    name,
    keys: keys.filter((key) => key.name === name).map(({ sha256, scopes, person }) => ({ sha256, scopes, person })),
    webhooks: [],
    limits,
  }));
}

/** Reports whether a merchant can have payments: one whose keys can't create any is an operator. */
export function hasPayments({ keys }: Pick<Merchant, 'keys'>): boolean {
  return keys.some(({ scopes }) => scopes.includes('collections')) || hasPayouts({ keys });
}

/** Reports whether a merchant can have payouts; a refund is one. */
export function hasPayouts({ keys }: Pick<Merchant, 'keys'>): boolean {
  return keys.some(({ scopes }) => scopes.includes('payouts') || scopes.includes('refunds'));
}

/** Lists the persons who can decide on payments in REVIEW. */
export function decidersAmong(merchants: readonly Pick<Merchant, 'keys'>[]): string[] {
  return personsWith('review', merchants);
}

/** Lists the persons who have keys with a scope, among the keys of some merchants: each once, however it is spelt. */
export function personsWith(scope: Scope, merchants: readonly Pick<Merchant, 'keys'>[]): string[] {
  const keys = merchants.flatMap((merchant) => merchant.keys);
  const persons = keys.filter(({ scopes }) => scopes.includes(scope)).map(({ person }) => person);
  return [...new Map(persons.map((person) => [foldedName(person), person])).values()];
}

/**
 * Returns a function that lists the identifiers of all keys of a person, at whichever merchant. Payments keep them, to
 * know a person again who is called something else by then. Neither a key nor its digest can be found from one.
 */
export function keyIdsIn(merchants: readonly Pick<Merchant, 'keys'>[]): (person: string) => readonly string[] {
  const ids = new Map<string, string[]>();
  for (const { person, sha256 } of merchants.flatMap(({ keys }) => keys)) {
    const name = foldedName(person);
    ids.set(name, [...(ids.get(name) ?? []), keyIdOf(sha256)]);
  }
  return (person) => ids.get(foldedName(person)) ?? [];
}

/** Lists the keys of some merchants, with their persons. */
export function namedKeysIn(merchants: readonly Pick<Merchant, 'name' | 'keys'>[]): PersonsKey[] {
  return merchants.flatMap(({ name, keys }) =>
    keys.map(({ sha256, person }) => ({ merchant: name, person, keyId: keyIdOf(sha256) })),
  );
}

/** Identifies a key; it isn't the key. @param sha256 of its secret, in hex */
export function keyIdOf(sha256: string): string {
  return createHash('sha256').update(`key ${sha256}`).digest('hex').slice(0, 16);
}

/** What is wrong with a person who has two spellings, to be said after the place. */
export const TWO_SPELLINGS = 'is written in two ways: two people need two names';

/**
 * Makes a check of persons, one after the other, that reports whether each is in the spelling that it had first. In two
 * spellings, one person would count as two.
 *
 * @param merchants names of all merchants: a merchant's own is the person of each key that names none
 */
export function spellingCheck(merchants: readonly string[]): (person: string) => boolean {
  const spellings = new Map<string, string>();
  const isFirst = (name: string) => {
    const folded = foldedName(name);
    const spelling = spellings.get(folded) ?? name;
    spellings.set(folded, spelling);
    return spelling === name;
  };
  merchants.forEach(isFirst);
  return isFirst;
}
