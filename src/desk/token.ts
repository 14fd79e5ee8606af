import { randomBytes, timingSafeEqual } from 'node:crypto';

/** A value that can't be guessed: 256 random bits. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Compares a form's token with the one that was given out, in constant time. */
export function sameToken(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
