import { timingSafeEqual } from 'node:crypto';
import { sha256Of } from '../settings/api-keys.js';
import {
  keyIdOf,
  keyIdsIn,
  type Merchant,
  type MerchantLimits,
  namedKeysIn,
  personsWith,
  type Scope,
} from '../settings/merchants.js';
import { forbidden, unauthenticated } from './problem.js';

/** The owner of an API key, the person who uses it, and what the key allows. */
export interface Caller {
  /** The merchant, or the operator. */
  readonly owner: string;
  /** Who does what is done with the key. */
  readonly person: string;
  /** Identifiers of all keys of this person, at whichever merchant; payments keep them. */
  readonly personKeys: readonly string[];
  readonly scopes: ReadonlySet<Scope>;
  /** The persons of the owner who may approve its payouts. */
  readonly approvers: readonly string[];
  /** All keys of the owner, with their persons. */
  readonly people: ReturnType<typeof namedKeysIn>;
  /** The owner's limits of amounts. */
  readonly limits: MerchantLimits;
  /** The SHA-256 of the key's secret, in hex. */
  readonly key: string;
  /** Identifies the key, as {@link personKeys} do. */
  readonly keyId: string;
}

/** Finds the callers that API keys belong to. */
export interface Authenticator {
  /**
   * Finds the caller named by the value of an `Authorization` header.
   *
   * @throws {Problem} `unauthenticated`.
   */
  authenticate(authorization: string | undefined): Caller;
  /** Finds the caller whose key has this SHA-256, in hex. */
  find(key: string): Caller | undefined;
  /** Accepts these merchants' keys from now on, and no others. Requests under way are not affected. */
  replace(merchants: readonly Merchant[]): void;
}

interface Key {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/**
 * Bearer authentication with the merchants' keys. Only digests are kept. Each request is compared with all of them, in
 * constant time, so that the time taken reveals neither which key matched nor how much of it.
 */
export function createAuthenticator(merchants: readonly Merchant[]): Authenticator {
  let keys = keysOf(merchants);
  return {
    authenticate(authorization) {
      const secret = /^Bearer +([^ ]+) *$/i.exec(authorization ?? '')?.[1];
      if (secret === undefined) throw unauthenticated(authorization === undefined ? 'missing' : 'malformed');

      const caller = find(keys, sha256Of(secret));
      if (caller === undefined) throw unauthenticated('unknown');
      return caller;
    },
    find: (key) => find(keys, key),
    replace(next) {
      keys = keysOf(next);
    },
  };
}

/** @param anyOf the key must have one of these scopes. @throws {Problem} `forbidden`. */
export function requireScope({ scopes }: Caller, anyOf: readonly Scope[]): void {
  if (!anyOf.some((scope) => scopes.has(scope))) throw forbidden(anyOf);
}

/** Compares two secrets in constant time. */
export function sameSecret(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(sha256Of(one)), Buffer.from(sha256Of(other)));
}

/** Scopes that show the payments of a merchant. */
export const READING_SCOPES = ['read', 'review', 'approve'] as const satisfies readonly Scope[];

/** Reports whether the key may read its merchant's payments. */
export function mayRead({ scopes }: Caller): boolean {
  return READING_SCOPES.some((scope) => scopes.has(scope));
}

/** Reports whether the caller is an operator, who may see every merchant's payments and internal details. */
export function isOperator({ scopes }: Caller): boolean {
  return scopes.has('review');
}

/** Reports whether a caller may see a payment: its merchant and operators may. */
export function maySee(caller: Caller, merchant: string): boolean {
  return caller.owner === merchant || isOperator(caller);
}

function find(keys: readonly Key[], sha256: string): Caller | undefined {
  const digest = Buffer.from(sha256, 'hex');
  let found: Caller | undefined;
  for (const key of keys) {
    if (timingSafeEqual(key.digest, digest)) found = key.caller;
  }
  return found;
}

function keysOf(merchants: readonly Merchant[]): Key[] {
  const keyIdsOf = keyIdsIn(merchants);
  return merchants.flatMap(({ name: owner, keys, limits }) => {
    const people = namedKeysIn([{ name: owner, keys }]);
    const approvers = personsWith('approve', [{ keys }]);
    return keys.map(({ sha256, scopes, person }) => ({
      digest: Buffer.from(sha256, 'hex'),
      caller: {
        owner,
        person,
        personKeys: keyIdsOf(person),
        scopes: new Set(scopes),
        approvers,
        people,
        limits,
        key: sha256,
        keyId: keyIdOf(sha256),
      },
    }));
  });
}
