import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { credentialHeaders } from '../src/provider/schemas.js';
import { Refusal } from './answer.js';
import type { ServiceKind } from './entry.js';

/** One service at the provider, with its own pair of credentials: it collects, or it pays out, never both. */
export interface Service {
  readonly kind: ServiceKind;
  readonly name: string;
  readonly apiUser: string;
  readonly apiKey: string;
  readonly webhookUrl?: string | undefined;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
/** Compares in constant time, whatever the lengths. */
const same = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));

/**
 * The service whose credentials a request carries.
 * @throws Refusal 401 when a header is missing or the pair belongs to no service
 */
export function authenticate(headers: IncomingHttpHeaders, services: readonly Service[]): Service {
  const user = headers[credentialHeaders.user];
  const key = headers[credentialHeaders.key];
  for (const [name, value] of [
    [credentialHeaders.user, user] as const,
    [credentialHeaders.key, key] as const,
  ]) {
    if (value === undefined || value === '') throw new Refusal(401, `${name}: this header is required`);
  }
  const service = services.find(
    ({ apiUser, apiKey }) => same(String(user), apiUser) && same(String(key), apiKey),
  );
  if (service === undefined) throw new Refusal(401, 'apiuser or apikey is invalid');
  return service;
}

/**
 * Keeps collections and payouts apart: a service that may pay out can no longer collect.
 * @throws Refusal 403
 */
export function permit(service: Service, needed: ServiceKind | undefined): void {
  if (needed === undefined || service.kind === needed) return;
  throw new Refusal(
    403,
    needed === 'payout'
      ? 'This service is not enabled for payouts'
      : 'This service is enabled for payouts and cannot collect payments',
  );
}
