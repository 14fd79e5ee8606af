import { randomBytes } from 'node:crypto';
import type { CookieOptions, Request } from 'express';

/** The User-Agent that the desk calls the API with. */
export const DESK_AGENT = 'sanaga-desk';

/** Names of this machine, as a browser writes them in `Host`. */
const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;

/** Headers that proxies add, and browsers don't. */
const OF_PROXIES = /^(forwarded|via|x-real-ip|x-forwarded-.*)$/;

/**
 * Reports whether an API key may travel with a request: over https, which a trusted proxy says, or within one machine.
 * A proxy may have put the name of this machine into `Host`. It is told by its headers, and in a form by the browser's
 * `Origin`, which is the address that the person sees.
 */
export function isPrivate({ secure, method, headers }: Request): boolean {
  if (secure) return !/\bhttp\b/i.test(String(headers['x-forwarded-proto'] ?? ''));
  const { host = '', origin } = headers;
  if (!LOCAL_HOST.test(host) || Object.keys(headers).some((name) => OF_PROXIES.test(name))) return false;
  return method !== 'POST' || origin === `http://${host}`;
}

/**
 * The address for a form that sends a key, whose page {@link isPrivate}. Over http, it names this machine: behind a
 * proxy that has hidden itself, it is another site's, where the page's policy lets no form go.
 */
export function privateAction({ secure, headers }: Request, path: string): string {
  return secure ? path : `http://${headers.host}${path}`;
}

/** Warns that an API key would be read on its way. @param page what to open by https instead, such as `the desk` */
export function plainTextWarning(page: string): string {
  return `Your key would be sent over the network for everybody to read. Open ${page} by https. If you have, the proxy must send X-Forwarded-Proto: https, and TRUSTED_PROXIES must count it. If you have sent a key by http, replace it.`;
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
