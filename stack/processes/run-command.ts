import { execa } from 'execa';

/** Outcome of a command. `output` holds both streams. */
export type CommandOutcome =
  | { readonly kind: 'succeeded'; readonly output: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly output: string };

export interface CommandOptions {
  /** The command's whole environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** What it reads. */
  readonly input?: string;
  /** Time limit in ms. Then the command and its children are killed, and it counts as failed. */
  readonly timeLimitMs: number;
  /** Called every `progressEveryMs` while the command runs, with the ms since its start. */
  readonly onProgress?: (elapsedMs: number) => void;
  readonly progressEveryMs?: number;
}

/** Runs a command to its end. It never throws: a command that can't be started has failed, too. */
export async function runCommand(
  file: string,
  args: readonly string[],
  { env, cwd, input, timeLimitMs, onProgress, progressEveryMs = 10_000 }: CommandOptions,
): Promise<CommandOutcome> {
  const startedAt = Date.now();
  const progress = onProgress && setInterval(() => onProgress(Date.now() - startedAt), progressEveryMs);
  const result = await execa(file, args, {
    env,
    extendEnv: false,
    ...(cwd !== undefined && { cwd }),
    ...(input === undefined ? { stdin: 'ignore' } : { input }),
    all: true,
    stripFinalNewline: false,
    reject: false,
    timeout: timeLimitMs,
    killSignal: 'SIGKILL',
    // Children of its own could hold its output open long after it.
    killDescendants: true,
  });
  clearInterval(progress);
  const output = result.all ?? '';
  if (!result.failed) return { kind: 'succeeded', output };
  return { kind: 'failed', reason: reasonOf(result, timeLimitMs), output };
}

interface Failure {
  readonly timedOut: boolean;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly originalMessage?: string | undefined;
}

function reasonOf({ timedOut, exitCode, signal, originalMessage }: Failure, timeLimitMs: number): string {
  if (timedOut) return `did not end within ${timeLimitMs / 1_000} s`;
  if (signal !== undefined) return `ended with ${signal}`;
  return exitCode === undefined ? (originalMessage ?? 'did not start') : `ended with code ${exitCode}`;
}

/** The last line of a command's output that isn't empty, for an error message. */
export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? '';
}
