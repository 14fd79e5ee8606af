import { z } from 'zod';
import { readSettings, SettingsError } from '../../sandbox/settings.js';
import { ConfigError, readConfig } from '../../src/config.js';
import type { Secrets } from '../processes/secrets.js';
import { type StackPorts, stackSettings } from '../processes/settings.js';
import { freePort } from '../temporal/free-port.js';

/** Where the embedded Temporal is to listen. */
export interface TemporalPorts {
  readonly frontend: number;
  readonly ui: number;
}

/** What `start` runs its parts with. */
export interface StartSettings {
  readonly ports: StackPorts;
  readonly temporalPorts: TemporalPorts;
  readonly env: NodeJS.ProcessEnv;
  readonly taskQueue: string;
  /** The names of the API keys that hold. */
  readonly keyNames: readonly string[];
}

/**
 * The operator's settings with ours: theirs hold for everything but what the parts of this one stack must agree on.
 * A port of 0 becomes one that is free.
 *
 * @throws ConfigError with one line for each wrong setting of any part.
 */
export async function startSettings(own: NodeJS.ProcessEnv, secrets: Secrets): Promise<StartSettings> {
  const withOurs = (ports: StackPorts) => ({
    // Here the merchant's own system is most likely on this machine, too.
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
    ...own,
    ...stackSettings(ports, secrets),
    ...(own.API_KEYS && { API_KEYS: own.API_KEYS }),
  });
  // Which ports they are is only known once they are read; until then any will do for the addresses made of them.
  const { PORT, SANDBOX_PORT } = own;
  const { api, sandbox, start } = readAll({ ...withOurs({ api: 1, sandbox: 1 }), PORT, SANDBOX_PORT });
  const ports = { api: api.PORT || (await freePort()), sandbox: sandbox.SANDBOX_PORT || (await freePort()) };
  return {
    ports,
    temporalPorts: { frontend: start.TEMPORAL_PORT, ui: start.TEMPORAL_UI_PORT },
    env: withOurs(ports),
    taskQueue: api.TEMPORAL_TASK_QUEUE,
    keyNames: api.API_KEYS.map(({ name }) => name),
  };
}

const port = (fallback: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'is not a port')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value <= 65_535, 'is not a port: at most 65535');

/** Settings of this command alone; the defaults are Temporal's own, for whoever comes with its tools. */
const startSchema = z.object({ TEMPORAL_PORT: port(7233), TEMPORAL_UI_PORT: port(8233) });

/** The settings of every part; what is wrong with any of them is said at once. */
function readAll(env: NodeJS.ProcessEnv) {
  const mistakes = new Set<string>();
  const read = <Settings>(readPart: () => Settings): Settings | undefined => {
    try {
      return readPart();
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof SettingsError)) throw error;
      for (const line of error.message.split('\n')) mistakes.add(line);
      return undefined;
    }
  };
  const api = read(() => readConfig('api', env));
  const sandbox = read(() => readSettings(env));
  read(() => readConfig('worker', env));
  const start = startSchema.safeParse(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
  );
  for (const { path, message } of start.error?.issues ?? []) mistakes.add(`${String(path[0])} ${message}`);
  if (api === undefined || sandbox === undefined || !start.success || mistakes.size > 0) {
    throw new ConfigError([...mistakes].join('\n'));
  }
  return { api, sandbox, start: start.data };
}
