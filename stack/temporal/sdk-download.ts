import { mkdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execa } from 'execa';
import { z } from 'zod';
import { isExecutableFile } from './executables.js';

/** The executables that Temporal's SDK can download for its test environments. */
export type SdkExecutable = 'temporal' | 'temporal-test-server';

export type SdkDownload =
  | { readonly kind: 'downloaded'; readonly path: string }
  | { readonly kind: 'refused'; readonly reason: string };

const require = createRequire(import.meta.url);
const POLL_EVERY_MS = 100;
const STALL_LIMIT_MS = 20_000;

/**
 * The SDK downloads an executable only to start it, so this starts one that ends at once: with `--help`, or with a flag
 * that doesn't exist. This runs in a process of its own, where a download that hangs can be given up, and where it
 * doesn't install the SDK's runtime before a worker of this process can.
 */
const SCRIPT = `
const { TestWorkflowEnvironment } = require(process.argv[1]);
const [, , executable, downloadDir] = process.argv;
const server = { executable: { type: 'cached-download', downloadDir, ttl: '10 years' } };
const started = executable === 'temporal'
  ? TestWorkflowEnvironment.createLocal({ server: { ...server, extraArgs: ['--help'] } })
  : TestWorkflowEnvironment.createTimeSkipping({ server: { ...server, extraArgs: ['--download-only'] } });
started.then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });
`;

/** Returns the path where {@link downloadWithSdk} leaves the executable; the name contains the SDK's version. */
export function sdkDownloadPath(executable: SdkExecutable, folder: string): string {
  const { version } = z.object({ version: z.string() }).parse(require('@temporalio/testing/package.json'));
  const extension = process.platform === 'win32' ? '.exe' : '';
  return join(folder, `${executable}-sdk-typescript-${version}${extension}`);
}

/** Makes the SDK download an executable into the folder; given up when no more bytes have come for `stallLimitMs`. */
export async function downloadWithSdk(
  executable: SdkExecutable,
  {
    folder,
    env,
    stallLimitMs = STALL_LIMIT_MS,
  }: { readonly folder: string; readonly env: NodeJS.ProcessEnv; readonly stallLimitMs?: number },
): Promise<SdkDownload> {
  const path = sdkDownloadPath(executable, folder);
  const partial = `${path}.downloading`;
  await mkdir(folder, { recursive: true });

  const args = ['-e', SCRIPT, require.resolve('@temporalio/testing'), executable, folder];
  const child = execa(process.execPath, args, {
    env,
    extendEnv: false,
    stdin: 'ignore',
    stdout: 'ignore',
    reject: false,
    killSignal: 'SIGKILL',
  });
  let hasEnded = false;
  const ended = child.finally(() => {
    hasEnded = true;
  });

  let size = 0;
  let progressAt = Date.now();
  // The SDK gives the file its final name once it is complete, so there is no need to wait for the process.
  while (!hasEnded && !(await isExecutableFile(path))) {
    const sizeNow = await sizeOf(partial);
    if (sizeNow !== size) progressAt = Date.now();
    size = sizeNow;
    if (Date.now() - progressAt > stallLimitMs) {
      child.kill();
      // The SDK would wait for it for a minute at the next download.
      await rm(partial, { force: true });
      return { kind: 'refused', reason: `nothing came for ${stallLimitMs / 1_000} s` };
    }
    await pause(POLL_EVERY_MS);
  }
  child.kill();

  if (await isExecutableFile(path)) return { kind: 'downloaded', path };
  const { stderr, originalMessage } = await ended;
  return { kind: 'refused', reason: causeOf(stderr || (originalMessage ?? '')) };
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}

/** The SDK's message nests causes, each with the address in it; the last one says what happened. */
function causeOf(output: string): string {
  const message = output.trim().split('\n').at(-1) ?? '';
  const cause = message.split(/: (?=client error|HTTP status|tcp|dns)/).at(-1);
  return cause === undefined || cause === '' ? 'the SDK gave no reason' : cause;
}
