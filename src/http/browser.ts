import { randomBytes } from 'node:crypto';
import type { CookieOptions, Request } from 'express';

/** The User-Agent that the desk calls the API with. */
export const DESK_AGENT = 'sanaga-desk';

/** Reports whether an API key may travel with a request: over https, or within one machine. */
export function isPrivate({ secure, hostname }: Request): boolean {
  return secure || /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname ?? '');
}

/** Warns that an API key would be read on its way. @param page what to open by https instead, such as `the desk` */
export function plainTextWarning(page: string): string {
  return `Your key would be sent over the network for everybody to read. Open ${page} by https. If you have, the proxy must send X-Forwarded-Proto, and TRUSTED_PROXIES must count it.`;
}

/** Makes a value that can't be guessed: 256 random bits. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Names a cookie. With the prefix, browsers take it over https from this host alone. */
export function cookieName(name: string, { secure }: Request): string {
  return secure ? `__Host-${name}` : name;
}

/** Strict: no other site may send the cookie. */
export function cookieOptions({ secure }: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'strict', secure, path: '/' };
}

/** Reads a cookie, if it can be a {@link randomToken}. */
export function cookieOf(request: Request, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(/; */).map((pair) => pair.split('='));
  const value = pairs.find(([one]) => one === cookieName(name, request))?.[1];
  return value !== undefined && /^[\w-]{20,100}$/.test(value) ? value : undefined;
}

/** Reads a field of a form or a query, or a part of a path; empty when it is missing or repeated. */
export function textOf(values: unknown, name: string): string {
  if (typeof values !== 'object' || values === null || !Object.hasOwn(values, name)) return '';
  const value: unknown = Reflect.get(values, name);
  return typeof value === 'string' ? value : '';
}
