import type { z } from 'zod';
import { apiSettings, missingPersons } from './api.js';
import { bookSettings, migrationSettings } from './book.js';
import { codecSettings } from './codec.js';
import { ConfigError } from './config-error.js';
import { deskSettings } from './desk.js';
import { exampleSecrets } from './example-secrets.js';
import { merchantsIn } from './merchants.js';
import { replaySettings } from './replay.js';
import { SECRET_SETTINGS, withSecretFiles } from './secret-files.js';
import { workerSettings } from './worker.js';

const schemas = {
  api: apiSettings,
  desk: deskSettings,
  worker: workerSettings,
  codec: codecSettings,
  book: bookSettings,
  migrate: migrationSettings,
  replay: replaySettings,
};

/** The part of a process that its settings need. */
export type Part = keyof typeof schemas;
export type Config<P extends Part> = z.infer<(typeof schemas)[P]>;

/**
 * Reads the settings of one process from the environment.
 *
 * @param onGap is told why nobody could complete decisions or approvals that take another person, where the caller goes
 * on all the same
 * @throws {ConfigError} with one line for each setting that is missing or wrong.
 * @example readConfig('worker', process.env).PROVIDER_TIMEOUT // 15000
 */
export function readConfig<P extends Part>(
  part: P,
  env: NodeJS.ProcessEnv,
  onGap: (gap: string) => void = refuse,
): Config<P> {
  const schema: z.ZodType = schemas[part];
  const names = settingNames(part);
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { given, mistakes } = withSecretFiles(set, names);
  const read = schema.safeParse(given);
  const lines = (read.error?.issues ?? [])
    .map((issue) => ({ name: String(issue.path[0]), issue }))
    .filter(({ name }) => !mistakes.has(name))
    .map(({ name, issue }) =>
      given[name] === undefined && issue.code !== 'custom' ? `${name} is not set` : `${name} ${issue.message}`,
    );
  refuseAny([...mistakes.values(), ...lines]);

  const config = read.data as Config<P>;
  const secrets = SECRET_SETTINGS.filter((name) => names.includes(name));
  refuseAny(exampleSecrets({ settings: given, keys: keysIn(config) }, secrets));
  const gaps = 'PORT' in config ? missingPersons(config) : [];
  if (gaps.length > 0) onGap(gaps.join('\n'));
  return config;
}

function refuseAny(mistakes: readonly string[]): void {
  if (mistakes.length > 0) refuse(mistakes.join('\n'));
}

function refuse(mistakes: string): never {
  throw new ConfigError(mistakes);
}

/** Lists the keys that may call, from either form of the settings. */
function keysIn(config: Config<Part>) {
  return merchantsIn({
    API_KEYS: 'API_KEYS' in config ? config.API_KEYS : undefined,
    MERCHANTS_FILE: 'MERCHANTS_FILE' in config ? config.MERCHANTS_FILE : undefined,
  }).flatMap(({ keys }) => keys);
}

/** Names the settings that a process reads; without `part`, all of them. */
export function settingNames(part?: Part): string[] {
  const chosen = part === undefined ? Object.values(schemas) : [schemas[part]];
  const names = chosen.flatMap(({ shape }) => Object.keys(shape));
  return [...new Set(names)].sort();
}
