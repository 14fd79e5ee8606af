import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.js';
import { reasonOf } from './merchants-file.js';

/** The settings that may be kept in a file instead. The setting with `_FILE` at its end has the file's path. */
export const SECRET_SETTINGS = [
  'API_KEYS',
  'WEBHOOK_TOKEN',
  'PROVIDER_COLLECTION_API_USER',
  'PROVIDER_COLLECTION_API_KEY',
  'PROVIDER_PAYOUT_API_USER',
  'PROVIDER_PAYOUT_API_KEY',
  'MERCHANT_WEBHOOK_SECRET',
  'ENCRYPTION_KEYS',
  'CODEC_UI_TOKEN',
  'DATABASE_URL',
] as const;

/**
 * Reads the secrets that are kept in files, without the line break at the end of each.
 *
 * @param names the settings that may be read
 */
export function withSecretFiles(env: NodeJS.ProcessEnv, names: readonly string[]) {
  const given: NodeJS.ProcessEnv = { ...env };
  /** The problem with each secret's file, by the secret's name. */
  const mistakes = new Map<string, string>();
  for (const name of SECRET_SETTINGS) {
    if (env[`${name}_FILE`] === undefined || !names.includes(name)) continue;
    try {
      given[name] = secretOf(env, name);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.set(name, error.message);
    }
  }
  return { given, mistakes };
}

/**
 * Reads Temporal's API key from its file, if it is in one: Temporal's own library reads no file.
 *
 * @throws {ConfigError} when both are set, or the file is empty or can't be read.
 */
export function withTemporalApiKey(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, TEMPORAL_API_KEY: secretOf(env, 'TEMPORAL_API_KEY') };
}

/**
 * Reads a secret from the environment, or from its file.
 *
 * @throws {ConfigError} when both are set, or the file is empty or can't be read.
 */
function secretOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const path = env[`${name}_FILE`];
  if (path === undefined || path === '') return env[name];
  if (env[name] !== undefined && env[name] !== '') {
    throw new ConfigError(`${name}_FILE can't be set together with ${name}: set one of them`);
  }
  const secret = readSecret(name, path).replace(/\r?\n$/, '');
  if (secret === '') throw new ConfigError(`${name}_FILE is empty`);
  return secret;
}

function readSecret(name: string, path: string): string {
  try {
    // Without the byte order mark that editors of Windows begin a file with.
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new ConfigError(`${name}_FILE can't be read: ${reasonOf(error)}`);
  }
}
