import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKeySetting, Scope } from '../../config.js';
import { forbidden, unauthenticated } from './problem.js';

/** The owner of an API key, and what the key allows. */
export interface Caller {
  readonly owner: string;
  readonly scopes: ReadonlySet<Scope>;
}

/**
 * The caller that the value of an `Authorization` header names.
 *
 * @param anyOf the key must have one of these scopes
 * @throws {ApiError} `unauthenticated`, `forbidden`.
 */
export type Authenticate = (authorization: string | undefined, anyOf: readonly Scope[]) => Caller;

interface Key {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/**
 * Bearer authentication with the configured keys. Only digests are kept. Each request is compared with all of
 * them, in constant time, so that the time taken reveals neither which key matched nor how much of it.
 */
export function createAuthenticate(settings: readonly ApiKeySetting[]): Authenticate {
  const keys = settings.map(toKey);
  return (authorization, anyOf) => {
    const secret = /^Bearer +([^ ]+) *$/i.exec(authorization ?? '')?.[1];
    if (secret === undefined) throw unauthenticated('missing');

    const caller = find(keys, sha256(secret));
    if (caller === undefined) throw unauthenticated('unknown');
    if (!anyOf.some((scope) => caller.scopes.has(scope))) throw forbidden(anyOf);
    return caller;
  };
}

/** Compares two secrets in constant time. */
export function sameSecret(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other));
}

/** Whether a caller may see a payment: its owner may, and so may operators, who have the scope `review`. */
export function maySee(caller: Caller, owner: string): boolean {
  return caller.owner === owner || caller.scopes.has('review');
}

function find(keys: readonly Key[], digest: Buffer): Caller | undefined {
  let found: Caller | undefined;
  for (const key of keys) {
    if (timingSafeEqual(key.digest, digest)) found = key.caller;
  }
  return found;
}

function toKey({ name, secret, scopes }: ApiKeySetting): Key {
  const digest = 'sha256' in secret ? Buffer.from(secret.sha256, 'hex') : sha256(secret.plain);
  return { digest, caller: { owner: name, scopes: new Set(scopes) } };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
