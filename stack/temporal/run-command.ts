import { spawn } from 'node:child_process';

/** How a command ended. `output` holds the last of what it wrote to both streams. */
export type CommandOutcome =
  | { readonly kind: 'succeeded'; readonly output: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly output: string };

export interface CommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** After so many ms the command is killed and counts as failed. */
  readonly timeLimit: number;
  /** Called every `progressEvery` ms while the command runs, with the ms since its start. */
  readonly onProgress?: (elapsed: number) => void;
  readonly progressEvery?: number;
}

const OUTPUT_KEPT = 4_000;

/** Runs a command to its end and never throws: a command that cannot even start has failed, too. */
export async function runCommand(
  file: string,
  args: readonly string[],
  { env, cwd, timeLimit, onProgress, progressEvery = 10_000 }: CommandOptions,
): Promise<CommandOutcome> {
  const startedAt = Date.now();
  const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });

  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-OUTPUT_KEPT);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);

  const progress = onProgress && setInterval(() => onProgress(Date.now() - startedAt), progressEvery);
  const reason = await new Promise<string | undefined>((resolve) => {
    const limit = setTimeout(() => {
      child.kill('SIGKILL');
      // Its own children may hold the pipes open for long after it.
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(`did not end within ${timeLimit / 1_000} s`);
    }, timeLimit);
    child.on('error', (error) => {
      clearTimeout(limit);
      resolve(error.message);
    });
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      resolve(code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}`);
    });
  });
  clearInterval(progress);

  if (reason === undefined) return { kind: 'succeeded', output };
  return { kind: 'failed', reason, output };
}

/** The last line of a command's output that says something, to be quoted in a message. */
export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? '';
}
