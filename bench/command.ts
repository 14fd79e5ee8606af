import { CommanderError } from 'commander';
import { Interrupted, stopSignal } from '../stack/processes/stop-signal.js';

/** Writes a line of progress, or a complaint. */
export const complain = (line: string) => process.stderr.write(`${line}\n`);

/** Writes a result. */
export const print = (text: string) => process.stdout.write(`${text}\n`);

/**
 * Runs one of the benchmark's commands: this process exits with what `main` gives, with 64 for wrong arguments, with
 * 130 on Ctrl-C, and with 1 after any other error.
 */
export async function runCommand(main: (args: readonly string[], stop: AbortSignal) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main(process.argv.slice(2), stopSignal());
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 64;
    else if (error instanceof Interrupted) process.exitCode = error.exitCode;
    else {
      complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
      process.exitCode = 1;
    }
  }
}

/** Reports whether this machine can be measured on, and prints the reason if it can't. */
export function canMeasure(): boolean {
  if (process.platform === 'linux') return true;
  complain('bench: CPU times and memory are read from /proc, which only Linux has');
  return false;
}
