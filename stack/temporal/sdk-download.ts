import { spawn } from 'node:child_process';
import { mkdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { isExecutableFile } from './on-path.js';

/** The executables that Temporal's SDK can download for its test environments. */
export type SdkExecutable = 'temporal' | 'temporal-test-server';

export type SdkDownload =
  | { readonly kind: 'downloaded'; readonly path: string }
  | { readonly kind: 'refused'; readonly reason: string };

const require = createRequire(import.meta.url);
const POLL_EVERY = 100;
const STALL_LIMIT = 20_000;
const WORDS_KEPT = 2_000;

/**
 * The SDK downloads only on its way to starting the server, so it is asked to start one that ends at once: with
 * `--help`, or with a flag that does not exist. That is done in a process of its own, because a download that hangs
 * can be abandoned there, and because it would settle this process's SDK runtime before the worker can.
 */
const script = `
const { TestWorkflowEnvironment } = require(process.argv[1]);
const [, , executable, downloadDir] = process.argv;
const server = { executable: { type: 'cached-download', downloadDir, ttl: '10 years' } };
const started = executable === 'temporal'
  ? TestWorkflowEnvironment.createLocal({ server: { ...server, extraArgs: ['--help'] } })
  : TestWorkflowEnvironment.createTimeSkipping({ server: { ...server, extraArgs: ['--download-only'] } });
started.then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });
`;

/** Where {@link downloadWithSdk} leaves the executable: in a file named after the SDK's version. */
export function sdkDownloadPath(executable: SdkExecutable, folder: string): string {
  const { version } = z.object({ version: z.string() }).parse(require('@temporalio/testing/package.json'));
  const extension = process.platform === 'win32' ? '.exe' : '';
  return join(folder, `${executable}-sdk-typescript-${version}${extension}`);
}

/**
 * Lets the SDK download an executable into the folder. Given up after `stallLimit` ms without a byte more.
 */
export async function downloadWithSdk(
  executable: SdkExecutable,
  { folder, env, stallLimit = STALL_LIMIT }: { folder: string; env: NodeJS.ProcessEnv; stallLimit?: number },
): Promise<SdkDownload> {
  const path = sdkDownloadPath(executable, folder);
  const partial = `${path}.downloading`;
  await mkdir(folder, { recursive: true });

  const args = ['-e', script, require.resolve('@temporalio/testing'), executable, folder];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-WORDS_KEPT);
  });
  let hasEnded = false;
  child.on('error', (error) => {
    words = error.message;
    hasEnded = true;
  });
  child.on('close', () => {
    hasEnded = true;
  });

  let size = 0;
  let progressAt = Date.now();
  while (!hasEnded) {
    // The SDK renames the file to its final name when it is whole, so there is no need to wait for the rest.
    if (await isExecutableFile(path)) break;
    const sizeNow = await sizeOf(partial);
    if (sizeNow !== size) progressAt = Date.now();
    size = sizeNow;
    if (Date.now() - progressAt > stallLimit) {
      child.kill('SIGKILL');
      // Left in place, the SDK would wait a minute for it the next time.
      await rm(partial, { force: true });
      return { kind: 'refused', reason: `nothing came for ${stallLimit / 1_000} s` };
    }
    await delay(POLL_EVERY);
  }
  child.kill('SIGKILL');

  if (await isExecutableFile(path)) return { kind: 'downloaded', path };
  return { kind: 'refused', reason: tellCause(words) };
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}

/** The SDK's message nests one cause in another, with the address in each; the last one says what happened. */
function tellCause(words: string): string {
  const message = words.trim().split('\n').at(-1) ?? '';
  const cause = message.split(/: (?=client error|HTTP status|tcp|dns)/).at(-1);
  return cause === undefined || cause === '' ? 'the SDK did not say why' : cause;
}
