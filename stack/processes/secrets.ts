import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const text = z.string().min(16);

const secretsSchema = z.object({
  /** The merchant's API key. */
  apiKey: text,
  /** The last part of the address that the provider notifies. */
  webhookToken: text,
  collectionApiKey: text,
  payoutApiKey: text,
});

/** Whatever the parts of one stack must share and nobody else may know. */
export type Secrets = z.infer<typeof secretsSchema>;

/** New ones, of 192 random bits each. */
export function makeSecrets(): Secrets {
  const random = () => randomBytes(24).toString('base64url');
  return {
    apiKey: `sk_${random()}`,
    webhookToken: random(),
    collectionApiKey: random(),
    payoutApiKey: random(),
  };
}

/**
 * The secrets kept in a folder, made at the first call. The folder and the file are for their owner alone.
 *
 * @throws Error when the file isn't what this function has written.
 */
export async function keptSecrets(folder: string): Promise<Secrets> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'secrets.json');
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${JSON.stringify(makeSecrets(), null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  try {
    // Unlike a write, a link is there at once and whole, so that two who start together agree.
    await link(draft, file);
  } catch (error) {
    if (!isThere(error)) throw error;
  } finally {
    await rm(draft);
  }
  await chmod(file, 0o600);
  return readSecrets(await readFile(file, 'utf8'), file);
}

function readSecrets(content: string, file: string): Secrets {
  try {
    return secretsSchema.parse(JSON.parse(content));
  } catch {
    throw new Error(`${file} can't be read: remove it, and new secrets will be made`);
  }
}

function isThere(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EEXIST';
}
