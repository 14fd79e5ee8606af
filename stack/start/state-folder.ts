import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive } from '../processes/lock.js';

/** The folder, in the current one, that keeps everything a restart needs. */
export const STATE_FOLDER = '.sanaga';

const runningSchema = z.object({
  pid: z.int().positive(),
  ports: z.object({ api: z.int(), sandbox: z.int(), desk: z.int().optional(), book: z.int().optional() }),
  temporal: z.object({ address: z.string(), namespace: z.string() }),
  taskQueue: z.string(),
  /** `true` when the API takes the generated key instead of the operator's settings. */
  hasGeneratedKey: z.boolean(),
  /**
   * The port on which `listen` receives the notifications; left out when the operator's settings send them elsewhere.
   */
  listenPort: z.int().optional(),
  /** The settings that it was given, without secrets. */
  settings: z.record(z.string(), z.string()),
  /** The port of the example shop, where it runs and receives the notifications instead. */
  shopPort: z.int().optional(),
});

/** Facts about a running `start` for other commands. */
export type Running = z.infer<typeof runningSchema>;

const fileIn = (folder: string) => join(folder, 'running.json');

/** Notes down that `start` runs on this folder. @returns a function that takes the note away. */
export async function noteRunning(folder: string, running: Running): Promise<() => Promise<void>> {
  await writeFile(fileIn(folder), `${JSON.stringify(running, null, 2)}\n`, { mode: 0o600 });
  return () => rm(fileIn(folder), { force: true });
}

/** The `start` that runs on a folder; `undefined` when none does. */
export async function findRunning(folder: string): Promise<Running | undefined> {
  const text = await readFile(fileIn(folder), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const running = runningSchema.safeParse(parse(text)).data;
  // A `start` that was killed leaves its note behind.
  return running !== undefined && isAlive(running.pid) ? running : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
