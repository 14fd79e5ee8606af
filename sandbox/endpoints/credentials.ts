import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { credentialHeaders } from '../../src/provider/wire.js';
import type { ServiceKind } from '../entry.js';
import { ApiError, type Service } from './endpoint.js';

const digest = (text: string) => createHash('sha256').update(text).digest();
/** Compares in constant time, even for different lengths. */
const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));

/**
 * The service whose credentials a request carries.
 * @throws ApiError 401 when a header is missing or the credentials are wrong
 */
export function authenticate(headers: IncomingHttpHeaders, services: readonly Service[]): Service {
  const user = headers[credentialHeaders.user];
  const key = headers[credentialHeaders.key];
  for (const [name, value] of [
    [credentialHeaders.user, user] as const,
    [credentialHeaders.key, key] as const,
  ]) {
    if (value === undefined || value === '') throw new ApiError(401, `${name}: this header is required`);
  }
  const service = services.find(
    ({ apiUser, apiKey }) => isSame(String(user), apiUser) && isSame(String(key), apiKey),
  );
  if (service === undefined) throw new ApiError(401, 'apiuser or apikey is invalid');
  return service;
}

/**
 * Checks that a service may use an endpoint: a payout service can't collect, nor a collection service pay out.
 * @throws ApiError 403
 */
export function authorize(service: Service, required: ServiceKind | undefined): void {
  if (required === undefined || service.kind === required) return;
  throw new ApiError(
    403,
    required === 'payout'
      ? 'This service is not enabled for payouts'
      : 'This service is enabled for payouts and cannot collect payments',
  );
}
