import { createSecretKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** Tells how to make a key, for messages. */
export const KEY_ADVICE =
  'Make a key with `echo "key-$(date +%Y-%m-%d):$(openssl rand -base64 32)" > encryption-keys`, keep the file safe (chmod 600, and a copy elsewhere)';

/** A key as the settings have it: its id, and 256 bits. */
interface NamedEncryptionKey {
  readonly id: string;
  /** Hides itself from logs. */
  readonly key: KeyObject;
}

const ENTRY = /^([a-zA-Z0-9._-]{1,40}):([A-Za-z0-9+/]{43}=)$/;

/**
 * The keys that payments are encrypted with in Temporal: `id:key`, in lines or separated by commas. Messages never show
 * a key.
 */
export const encryptionKeys = z.string().transform((value, context): readonly NamedEncryptionKey[] => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  const entries = value
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) refuse(`has no key in it. ${KEY_ADVICE}`);
  const keys = entries.flatMap((entry, index): NamedEncryptionKey[] => {
    const [, id, key] = ENTRY.exec(entry) ?? [];
    if (id !== undefined && key !== undefined) return [{ id, key: createSecretKey(key, 'base64') }];
    refuse(
      `entry ${index + 1} must be id:key, with an id of 1 to 40 letters, digits, ".", "_" and "-", and the base64 of 32 random bytes. ${KEY_ADVICE}`,
    );
    return [];
  });
  const ids = keys.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) refuse(`has the id ${twice} twice: what a key has encrypted names the key by its id alone`);
  return keys;
});
