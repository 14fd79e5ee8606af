import { z } from 'zod';
import { readSettings, SettingsError } from '../../sandbox/settings.js';
import { merchantsOf } from '../../src/settings/api.js';
import { ConfigError } from '../../src/settings/config-error.js';
import { hasPayments } from '../../src/settings/merchants.js';
import { type Config, readConfig } from '../../src/settings/read-settings.js';
import { freePort, steadyPort } from '../processes/ports.js';
import { type Secrets, type StackPorts, stackSettings } from '../processes/settings.js';

/** Ports of the embedded Temporal. */
export interface TemporalPorts {
  readonly frontend: number;
  readonly ui: number;
}

/** Receiver of the notifications of outcomes. */
export type NotificationTarget =
  /** To `sanaga listen` on this machine. */
  | { readonly kind: 'listen'; readonly port: number }
  /** To the example shop. */
  | { readonly kind: 'shop'; readonly port: number }
  /** To what the operator has set. */
  | { readonly kind: 'url'; readonly origin: string }
  | { readonly kind: 'merchantsFile' }
  /** Nowhere: the settings leave no merchant an address. */
  | { readonly kind: 'none' };

/** The address at which `sanaga listen` receives notifications. */
export function listenUrl(port: number): string {
  return `http://127.0.0.1:${port}/`;
}

/** The address at which the example shop receives notifications. */
export function shopWebhookUrl(port: number): string {
  return `http://127.0.0.1:${port}/webhooks/sanaga`;
}

/** The settings of `start` and its parts. */
export interface StartSettings {
  readonly ports: StackPorts;
  readonly temporalPorts: TemporalPorts;
  readonly env: NodeJS.ProcessEnv;
  readonly taskQueue: string;
  /** The names of the API keys' owners. */
  readonly keyNames: readonly string[];
  readonly notifications: NotificationTarget;
}

/**
 * The operator's settings, save those that the parts of this one stack must agree on. A port of 0 becomes a free one.
 * Notifications are sent to `sanaga listen`, signed with `webhookSecret`, unless the operator's settings say otherwise;
 * or `forShop`, to the example shop, and then they may not.
 *
 * @throws ConfigError with one line for each wrong setting of any part.
 */
export async function startSettings(
  own: NodeJS.ProcessEnv,
  secrets: Secrets,
  webhookSecret: string,
  forShop = false,
): Promise<StartSettings> {
  if (forShop) refuseInTheWay(own);
  const withStackSettings = (ports: StackPorts) => ({
    // The merchant's system is most likely on this machine, too.
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
    ...own,
    ...stackSettings(ports, secrets),
    ...((own.API_KEYS || own.API_KEYS_FILE || own.MERCHANTS_FILE) && { API_KEYS: own.API_KEYS }),
    ...((own.ENCRYPTION_KEYS || own.ENCRYPTION_KEYS_FILE) && { ENCRYPTION_KEYS: own.ENCRYPTION_KEYS }),
  });
  const book = own.DATABASE_URL || own.DATABASE_URL_FILE ? undefined : await steadyPort();
  // The addresses contain the ports, which aren't known before the settings are read: until then, any will do.
  const { PORT, SANDBOX_PORT, DESK_PORT, CODEC_PORT } = own;
  const { api, sandbox, desk, codec, start } = readAll({
    ...withStackSettings({ api: 1, sandbox: 1, desk: 1, codec: 1, book }),
    PORT,
    SANDBOX_PORT,
    DESK_PORT,
    CODEC_PORT,
  });
  const ports = {
    api: api.PORT || (await freePort()),
    sandbox: sandbox.SANDBOX_PORT || (await freePort()),
    desk: desk.DESK_PORT || (await freePort()),
    codec: codec.CODEC_PORT || (await freePort()),
    book,
  };
  const notifications: NotificationTarget = forShop
    ? { kind: 'shop', port: start.SHOP_PORT }
    : notificationTarget(own, api, start.LISTEN_PORT);
  const receiverUrl = receiverUrlOf(notifications);
  return {
    ports,
    temporalPorts: { frontend: start.TEMPORAL_PORT, ui: start.TEMPORAL_UI_PORT },
    env: {
      ...withStackSettings(ports),
      ...(receiverUrl !== undefined && {
        MERCHANT_WEBHOOK_URL: receiverUrl,
        MERCHANT_WEBHOOK_SECRET: webhookSecret,
        MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
      }),
    },
    taskQueue: api.TEMPORAL_TASK_QUEUE,
    keyNames: merchantsOf(api).map(({ name }) => name),
    notifications,
  };
}

function notificationTarget(own: NodeJS.ProcessEnv, api: Config<'api'>, listenPort: number): NotificationTarget {
  if (api.MERCHANTS_FILE !== undefined) return { kind: 'merchantsFile' };
  if (api.MERCHANT_WEBHOOK_URL !== undefined) {
    return { kind: 'url', origin: new URL(api.MERCHANT_WEBHOOK_URL).origin };
  }
  const hasOwnSecret = Boolean(own.MERCHANT_WEBHOOK_SECRET || own.MERCHANT_WEBHOOK_SECRET_FILE);
  const refusesThisMachine = own.MERCHANT_WEBHOOK_ALLOW_PRIVATE === 'false';
  // One address can't be that of several merchants: the API refuses to start then.
  const hasSeveralMerchants = merchantsOf(api).filter(hasPayments).length > 1;
  if (hasOwnSecret || refusesThisMachine || hasSeveralMerchants) return { kind: 'none' };
  return { kind: 'listen', port: listenPort };
}

/**
 * The shop has the generated key and secret, and can't work with others.
 *
 * @throws ConfigError with a line for each setting that is in its way.
 */
function refuseInTheWay(own: NodeJS.ProcessEnv): void {
  const names = SHOPS_OWN.filter((name) => own[name]);
  if (own.MERCHANT_WEBHOOK_ALLOW_PRIVATE === 'false') names.push('MERCHANT_WEBHOOK_ALLOW_PRIVATE');
  if (names.length > 0) throw new ConfigError(names.map((name) => `${name} ${SHOPS_OWN_ADVICE}`).join('\n'));
}

/** Settings in whose place the example shop has its own. */
const SHOPS_OWN = [
  'API_KEYS',
  'API_KEYS_FILE',
  'MERCHANTS_FILE',
  'MERCHANT_WEBHOOK_URL',
  'MERCHANT_WEBHOOK_SECRET',
  'MERCHANT_WEBHOOK_SECRET_FILE',
];
const SHOPS_OWN_ADVICE =
  'must not be set for the example shop, which has a key and a webhook address of its own on this machine: unset it, or ' +
  'use "npm start" and run the shop by itself, as examples/shop/README.md says';

function receiverUrlOf(target: NotificationTarget): string | undefined {
  if (target.kind === 'listen') return listenUrl(target.port);
  return target.kind === 'shop' ? shopWebhookUrl(target.port) : undefined;
}

/** The port that `sanaga listen` has unless another is named. */
export const DEFAULT_LISTEN_PORT = 4242;

const port = (fallback: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a port, from 1 to 65535')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be a port, from 1 to 65535');

/** Settings of this command alone. Temporal's ports are its own by default, so that its tools find the server. */
const startSchema = z.object({
  TEMPORAL_PORT: port(7233),
  TEMPORAL_UI_PORT: port(8233),
  LISTEN_PORT: port(DEFAULT_LISTEN_PORT),
  SHOP_PORT: port(8080),
});

const ANY_TOKEN = 'any-token-of-the-codec-server';

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
  const desk = read(() => readConfig('desk', env));
  read(() => readConfig('worker', env));
  // The stack makes the token by which the Web UI reads.
  const codec = read(() => readConfig('codec', { ...env, CODEC_UI_TOKEN: ANY_TOKEN, CODEC_UI_TOKEN_FILE: '' }));
  const start = startSchema.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  for (const { path, message } of start.error?.issues ?? []) mistakes.add(`${String(path[0])} ${message}`);
  if (
    api === undefined ||
    sandbox === undefined ||
    desk === undefined ||
    codec === undefined ||
    !start.success ||
    mistakes.size > 0
  ) {
    throw new ConfigError([...mistakes].join('\n'));
  }
  return { api, sandbox, desk, codec, start: start.data };
}
