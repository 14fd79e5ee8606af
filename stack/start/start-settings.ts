import { z } from 'zod';
import { readSettings, SettingsError } from '../../sandbox/settings.js';
import { ConfigError, merchantsOf, readConfig } from '../../src/config.js';
import { freePort } from '../processes/ports.js';
import { type Secrets, type StackPorts, stackSettings } from '../processes/settings.js';

/** Where the embedded Temporal listens. */
export interface TemporalPorts {
  readonly frontend: number;
  readonly ui: number;
}

/** The settings of `start` and its parts. */
export interface StartSettings {
  readonly ports: StackPorts;
  readonly temporalPorts: TemporalPorts;
  readonly env: NodeJS.ProcessEnv;
  readonly taskQueue: string;
  /** The names of the API keys' owners. */
  readonly keyNames: readonly string[];
}

/**
 * The operator's settings, save those that the parts of this one stack must agree on. A port of 0 becomes a free one.
 *
 * @throws ConfigError with one line for each wrong setting of any part.
 */
export async function startSettings(own: NodeJS.ProcessEnv, secrets: Secrets): Promise<StartSettings> {
  const withStackSettings = (ports: StackPorts) => ({
    // The merchant's system is most likely on this machine, too.
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
    ...own,
    ...stackSettings(ports, secrets),
    ...((own.API_KEYS || own.API_KEYS_FILE || own.MERCHANTS_FILE) && { API_KEYS: own.API_KEYS }),
  });
  // The addresses contain the ports, which aren't known before the settings are read: until then, any will do.
  const { PORT, SANDBOX_PORT } = own;
  const { api, sandbox, start } = readAll({
    ...withStackSettings({ api: 1, sandbox: 1 }),
    PORT,
    SANDBOX_PORT,
  });
  const ports = { api: api.PORT || (await freePort()), sandbox: sandbox.SANDBOX_PORT || (await freePort()) };
  return {
    ports,
    temporalPorts: { frontend: start.TEMPORAL_PORT, ui: start.TEMPORAL_UI_PORT },
    env: withStackSettings(ports),
    taskQueue: api.TEMPORAL_TASK_QUEUE,
    keyNames: merchantsOf(api).map(({ name }) => name),
  };
}

const port = (fallback: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a port, from 1 to 65535')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be a port, from 1 to 65535');

/** Settings of this command alone. The defaults are Temporal's own, so that its tools find the server. */
const startSchema = z.object({ TEMPORAL_PORT: port(7233), TEMPORAL_UI_PORT: port(8233) });

/** Reads the settings of every part, and reports all mistakes together. */
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
