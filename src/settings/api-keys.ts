import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type NamedKey, SCOPES, spellingCheck, TWO_SPELLINGS } from './merchants.js';

const API_KEY = /^([a-z0-9-]{1,40})(?:\/([a-z0-9-]{1,40}))?:([^:,]{24,}|sha256-[^:,]*):([a-z+]+)$/i;
const DIGEST_PREFIX = /^sha256-/i;
const DIGEST = /^sha256-([0-9a-f]{64})$/i;

/**
 * `name:secret:scope+scope,name/person:secret:scope,…`. Messages never show a secret. A secret that begins with
 * `sha256-` must be a digest: if a truncated digest counted as a plain secret, it would itself be a valid key.
 */
export const apiKeys = z
  .string()
  .min(1, 'must not be empty')
  .transform((value, context): NamedKey[] => {
    /** The entry that has each secret so far, by the secret's digest. */
    const seen = new Map<string, string>();
    const entries = value.split(',').map((entry) => API_KEY.exec(entry.trim()) ?? []);
    const isInOneSpelling = spellingCheck(entries.flatMap(([, name]) => name ?? []));
    return entries.flatMap(([, name, person, secret, scopeList], index) => {
      const problem = (message: string) => {
        context.addIssue({ code: 'custom', message: `entry ${index + 1} ${message}` });
        return [];
      };
      if (name === undefined || secret === undefined || scopeList === undefined) {
        return problem(
          'must be name:secret:scope+scope, or name/person:secret:scope+scope, with names of 1 to 40 letters, digits and "-", and a secret of at least 24 characters: make one with `openssl rand -hex 24`',
        );
      }
      const said = person === undefined ? name : `${name}/${person}`;
      const scopes = z.array(z.enum(SCOPES)).safeParse(scopeList.split('+'));
      if (!scopes.success) return problem(`(${said}) has an unknown scope; the scopes are ${SCOPES.join(', ')}`);
      const digest = DIGEST.exec(secret)?.[1]?.toLowerCase();
      if (digest === undefined && DIGEST_PREFIX.test(secret)) {
        return problem(`(${said}) has an invalid digest: sha256- must be followed by the 64 hex digits of a SHA-256`);
      }
      const sha256 = digest ?? sha256Of(secret);
      const other = seen.get(sha256);
      if (other !== undefined) return problem(`(${said}) has the same secret as ${other}: each key needs its own`);
      seen.set(sha256, `entry ${index + 1} (${said})`);
      if (!isInOneSpelling(person ?? name)) return problem(`(${said}) has a person that ${TWO_SPELLINGS}`);
      return [{ name, person: person ?? name, sha256, scopes: scopes.data }];
    });
  });

/** The SHA-256 of an API key's secret, in hex. */
export function sha256Of(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
