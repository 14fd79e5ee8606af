import { createHash } from 'node:crypto';

/**
 * Digest of a request's body as it was understood: two bodies that mean the same have the same one, whatever the
 * order of their fields or the spaces in a phone number. SHA-256 in hex.
 */
export function fingerprint(body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(body)))
    .digest('hex');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(canonical)];
  if (typeof value !== 'object' || value === null) return value;
  // Pairs rather than an object: an object puts keys that look like numbers first, whatever their order.
  const pairs = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return ['object', ...pairs.map(([key, field]) => [key, canonical(field)])];
}
