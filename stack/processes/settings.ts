import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { apiKeys, sha256Of } from '../../src/settings/api-keys.js';
import { isWebhookSecret } from '../../src/settings/kinds.js';
import type { NamedKey } from '../../src/settings/merchants.js';
import { SECRET_SETTINGS } from '../../src/settings/secret-files.js';
import { hasCode } from './lock.js';

/** The name of the merchant's API key; an idempotency key belongs to it, so it must never change. */
const KEY_OWNER = 'merchant';

/** Who approves the merchant's payouts. */
const APPROVER = `${KEY_OWNER}/accountant`;

const HOST = '127.0.0.1';

const SECRETS_FILE = 'secrets.json';

/** The name of the file in which {@link keptWebhookSecret} keeps the secret. */
export const WEBHOOK_SECRET_FILE = 'webhook-secret';

const SHOP_PASSWORD_FILE = 'shop-password';

/** The name of the file in which the key of the merchant's approver is kept. */
const APPROVER_KEY_FILE = 'approver-key';

/** The name of the file in which the password of the book's database is kept. */
const BOOK_PASSWORD_FILE = 'book-password';

/** The only role of the book's database. */
const BOOK_USER = 'sanaga';

/** The name of the file in which the keys are kept that encrypt payments in Temporal. */
const ENCRYPTION_KEYS_FILE = 'encryption-keys';

export interface StackPorts {
  readonly api: number;
  readonly sandbox: number;
  /** Without it, the stack has no desk. */
  readonly desk?: number | undefined;
  /** The codec server's; without it, there is none. */
  readonly codec?: number | undefined;
  /** That of the stack's own database with the book; without it, none is started. */
  readonly book?: number | undefined;
}

/** The addresses of a stack's parts. */
export function addressesOf({ api, sandbox, desk, codec }: StackPorts) {
  return {
    apiUrl: `http://${HOST}:${api}`,
    sandboxUrl: `http://${HOST}:${sandbox}`,
    ...(desk !== undefined && { deskUrl: `http://${HOST}:${desk}/desk` }),
    ...(codec !== undefined && { codecUrl: `http://${HOST}:${codec}` }),
  };
}

/** The settings with which the parts of one stack find each other, all of them on this machine. */
export function stackSettings(ports: StackPorts, secrets: Secrets): Record<string, string> {
  const { apiUrl, sandboxUrl } = addressesOf(ports);
  const { apiKey, approverKey, bookPassword } = secrets;
  const keys = [`${KEY_OWNER}:${apiKey}:collections+payouts+refunds+read+balance+review`];
  if (approverKey) keys.push(`${APPROVER}:${approverKey}:approve`);
  return {
    HOST,
    PORT: String(ports.api),
    API_KEYS: keys.join(','),
    WEBHOOK_TOKEN: secrets.webhookToken,
    ...(ports.book !== undefined && {
      DATABASE_URL: `postgres://${BOOK_USER}:${bookPassword}@${HOST}:${ports.book}/book`,
    }),
    ...(ports.desk !== undefined && {
      DESK_PORT: String(ports.desk),
      DESK_API_URL: apiUrl,
      DESK_URL: `http://${HOST}:${ports.desk}`,
    }),
    PROVIDER_COLLECTION_URL: sandboxUrl,
    PROVIDER_COLLECTION_API_USER: 'sandbox-collections',
    PROVIDER_COLLECTION_API_KEY: secrets.collectionApiKey,
    PROVIDER_PAYOUT_URL: sandboxUrl,
    PROVIDER_PAYOUT_API_USER: 'sandbox-payouts',
    PROVIDER_PAYOUT_API_KEY: secrets.payoutApiKey,
    ...(ports.codec !== undefined && { CODEC_PORT: String(ports.codec) }),
    ENCRYPTION_KEYS: secrets.encryptionKeys,
    SANDBOX_PORT: String(ports.sandbox),
    SANDBOX_WEBHOOK_URL: `${apiUrl}/webhooks/provider/${secrets.webhookToken}`,
  };
}

const OURS =
  /^(HOST|PORT|LOG_LEVEL|ENCRYPTION|API_METRICS_ADDRESS|OTEL_(EXPORTER_OTLP_ENDPOINT|TRACES_SAMPLER_ARG)|(API_KEYS|WEBHOOK_TOKEN|MERCHANTS|ENCRYPTION_KEYS|DATABASE_URL)(_FILE)?|FLOAT_WARN_BELOW|LINK_LIFETIME|RESOLVE_AFTER|SECOND_PERSON_ABOVE|APPROVE_ABOVE|APPROVAL_WITHIN|SEND_BY|TRUSTED_PROXIES|(PROVIDER|SANDBOX|WORKER|MERCHANT|MAX|POLL|AMBIGUOUS|CODEC|DESK)_.*|TEMPORAL_(TASK_QUEUE|UI_URL))$/;

/** The environment without Sanaga's settings, for a stack that must be the same wherever it runs. */
export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.test(name)));
}

const text = z.string().min(16);

/** Temporal's own settings that hold a secret. */
const TEMPORALS_SECRETS = /^TEMPORAL_(API_KEY|GRPC_META_.*|TLS_.*_DATA)$/;

/**
 * Sanaga's and Temporal's settings of an environment, without secrets: of one that is in a file, the file's path; of
 * API keys, whose they are and their scopes, on which other settings depend.
 */
export function settingsToTell(env: NodeJS.ProcessEnv): Record<string, string> {
  const told: Record<string, string> = {};
  const keys = apiKeys.safeParse(env.API_KEYS).data;
  if (keys !== undefined) told.API_KEYS = keys.map(keyToTell).join(',');
  for (const [name, value] of Object.entries(env)) {
    const isSetting = OURS.test(name) || name.startsWith('TEMPORAL_');
    const isSecret = TEMPORALS_SECRETS.test(name) || SECRET_SETTINGS.some((secret) => secret === name);
    if (value && isSetting && !isSecret) told[name] = value;
  }
  return told;
}

/** A key that nobody has, in the place of one. */
function keyToTell({ name, person, scopes }: NamedKey, index: number): string {
  return `${name}/${person}:sha256-${sha256Of(`key ${index}, which is not told`)}:${scopes.join('+')}`;
}

const keptSchema = z.object({
  /** The merchant's API key. */
  apiKey: text,
  /** The last segment of the address that the provider sends its webhooks to. */
  webhookToken: text,
  collectionApiKey: text,
  payoutApiKey: text,
});

/** Secrets that the parts of one stack share. */
export interface Secrets extends z.infer<typeof keptSchema> {
  /** The keys that encrypt payments in Temporal, in the form of ENCRYPTION_KEYS. */
  readonly encryptionKeys: string;
  /** The API key of another person, who approves payouts; `undefined` in a folder of a version that made none. */
  readonly approverKey?: string | undefined;
  /** The password of the book's database. */
  readonly bookPassword: string;
}

/** New secrets, of 192 random bits each, and a key of 256. */
export function makeSecrets(): Secrets {
  return {
    ...makeKept(),
    encryptionKeys: makeEncryptionKey(),
    approverKey: makeApiKey(),
    bookPassword: makePassword(),
  };
}

function makeKept(): z.infer<typeof keptSchema> {
  return {
    apiKey: makeApiKey(),
    webhookToken: makePassword(),
    collectionApiKey: makePassword(),
    payoutApiKey: makePassword(),
  };
}

function makePassword(): string {
  return randomBytes(24).toString('base64url');
}

function makeApiKey(): string {
  return `sk_${randomBytes(24).toString('base64url')}`;
}

/** A new key under an id of its own: one that was lost is missed by its id, and never taken for another. */
function makeEncryptionKey(): string {
  return `key-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`;
}

/**
 * The secrets kept in a folder; the first call makes them. Only their owner can read the folder and the files. The
 * encryption keys have a file of their own, so that one can be put before the others; the approver's key and the book's
 * password, because the file of the others may be older than they are.
 *
 * @throws Error when the file isn't one that this function has written.
 */
export async function keptSecrets(folder: string): Promise<Secrets> {
  const file = join(folder, SECRETS_FILE);
  const secrets = readSecrets(await kept(file, `${JSON.stringify(makeKept(), null, 2)}\n`), file);
  const encryptionKeys = await kept(join(folder, ENCRYPTION_KEYS_FILE), `${makeEncryptionKey()}\n`);
  const approverKey = await kept(join(folder, APPROVER_KEY_FILE), `${makeApiKey()}\n`);
  const bookPassword = await kept(join(folder, BOOK_PASSWORD_FILE), `${makePassword()}\n`);
  return {
    ...secrets,
    encryptionKeys: encryptionKeys.trim(),
    approverKey: approverKey.trim(),
    bookPassword: bookPassword.trim(),
  };
}

/** The secrets that a folder has; `undefined` when it has none. @throws as {@link keptSecrets} does. */
export async function existingSecrets(folder: string): Promise<Secrets | undefined> {
  const file = join(folder, SECRETS_FILE);
  const content = await readFile(file, 'utf8').catch(() => undefined);
  if (content === undefined) return undefined;
  const encryptionKeys = await readFile(join(folder, ENCRYPTION_KEYS_FILE), 'utf8').catch(() => '');
  const approverKey = await readFile(join(folder, APPROVER_KEY_FILE), 'utf8').catch(() => undefined);
  const bookPassword = await readFile(join(folder, BOOK_PASSWORD_FILE), 'utf8').catch(() => '');
  return {
    ...readSecrets(content, file),
    encryptionKeys: encryptionKeys.trim(),
    approverKey: approverKey?.trim(),
    bookPassword: bookPassword.trim(),
  };
}

/**
 * The Standard Webhooks secret kept in a folder, in a file of its own, so that it can be given to a merchant's system
 * without the others; the first call makes it. Only its owner can read it.
 *
 * @throws Error when the file doesn't hold one.
 */
export async function keptWebhookSecret(folder: string): Promise<string> {
  const file = join(folder, WEBHOOK_SECRET_FILE);
  return readWebhookSecret(await kept(file, `whsec_${randomBytes(32).toString('base64')}\n`), file);
}

/**
 * The password of the example shop's owner, kept in a folder; the first call makes it. Only the folder's owner can read
 * it.
 */
export async function keptShopPassword(folder: string): Promise<string> {
  const made = await kept(join(folder, SHOP_PASSWORD_FILE), `${randomBytes(12).toString('base64url')}\n`);
  return made.trim();
}

/** The webhook secret that a folder has; `undefined` when it has none. @throws as {@link keptWebhookSecret} does. */
export async function existingWebhookSecret(folder: string): Promise<string | undefined> {
  const file = join(folder, WEBHOOK_SECRET_FILE);
  const content = await readFile(file, 'utf8').catch(() => undefined);
  return content === undefined ? undefined : readWebhookSecret(content, file);
}

/**
 * Reads a file; when it isn't there, makes it with `fresh`. Only their owner can read the file and its folder.
 */
async function kept(file: string, fresh: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, fresh, { flag: 'wx', mode: 0o600 });
  try {
    // Unlike a write, a link appears at once and whole, so that two stacks that start together agree.
    await link(draft, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft);
  }
  await chmod(file, 0o600);
  return readFile(file, 'utf8');
}

function readSecrets(content: string, file: string): z.infer<typeof keptSchema> {
  try {
    return keptSchema.parse(JSON.parse(content));
  } catch {
    throw new Error(`${file} can't be read: remove it, and the next start makes new secrets`);
  }
}

function readWebhookSecret(content: string, file: string): string {
  const secret = content.trim();
  if (isWebhookSecret(secret)) return secret;
  throw new Error(`${file} holds no webhook secret: remove it, and the next start makes a new one`);
}
