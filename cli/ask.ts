import { createInterface } from 'node:readline/promises';
import { UsageError } from './run.js';

/**
 * Asks a question at the terminal, and returns what was typed.
 *
 * @param otherwise what to do where there is none
 * @param hint follows the question at a terminal
 * @throws UsageError where nobody can be asked.
 */
export async function ask(question: string, otherwise: string, stop: AbortSignal, hint = ''): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError(`${question}\n${otherwise}: there is no terminal to ask in.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // readline keeps Ctrl-C to itself.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return (await terminal.question(`\n${[question, hint].join(' ').trim()} `, { signal: stop })).trim();
  } catch (error) {
    stop.throwIfAborted();
    throw error;
  } finally {
    terminal.close();
  }
}
