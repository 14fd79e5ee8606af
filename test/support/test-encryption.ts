import { createSecretKey, randomBytes } from 'node:crypto';
import { readConfig } from '../../src/settings/read-settings.js';
import { type Encryption, type EncryptionKey, encryptionOf, keysOf } from '../../src/temporal/encryption.js';

/** A new key. */
export function freshKey(id = 'test-key'): EncryptionKey {
  return { id, key: createSecretKey(randomBytes(32)) };
}

/** Encryption of a file's suites, as in production: with a key that nobody else has. */
export const testEncryption: Encryption = { keys: keysOf([freshKey()]), isOn: true };

/** ENCRYPTION_KEYS for processes that a test starts. */
export const ENCRYPTION_KEYS = `test-key:${randomBytes(32).toString('base64')}`;

/** Returns the encryption of a process with these ENCRYPTION_KEYS. */
export function encryptionWith(keys: string): Encryption {
  return encryptionOf(readConfig('codec', { ENCRYPTION_KEYS: keys, CODEC_UI_TOKEN: 'any-token-of-a-test' }));
}
