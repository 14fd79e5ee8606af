#!/usr/bin/env node
import { ConfigError } from '../src/config.js';
import { readCommandLine } from './command-line.js';
import type { CommandName } from './commands.js';
import { helpText } from './help.js';
import { Interrupted, stopSignal } from './stop-signal.js';

/** What to do for each command; loaded only when it is wanted, so that help comes at once. */
const run: Readonly<Record<CommandName, (json: boolean) => Promise<unknown>>> = {
  demo: (json) =>
    toItsEnd(async (stop) => (await import('../stack/demo/run-demo.js')).runDemo({ json, stop })),
  start: () => toItsEnd(async (stop) => (await import('../stack/start/run-start.js')).runStart({ stop })),
  server: () => import('../src/server.js'),
  worker: () => import('../src/worker.js'),
  sandbox: () => import('../sandbox/main.js'),
};

/** Runs a command that answers with its exit code, and ends the process with it. */
async function toItsEnd(command: (stop: AbortSignal) => Promise<number>): Promise<void> {
  const code = await command(stopSignal()).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof Interrupted) return error.exitCode;
    return error instanceof ConfigError ? 78 : 1;
  });
  // Whatever still goes on, such as a build that was begun, ends with us.
  process.exitCode = code;
  process.stdout.write('', () => process.exit());
}

const invocation = readCommandLine(process.argv.slice(2));
switch (invocation.kind) {
  case 'run':
    await run[invocation.command](invocation.json);
    break;
  case 'help':
    process.stdout.write(helpText(invocation.command));
    break;
  case 'wrong':
    process.stderr.write(`sanaga: ${invocation.message}\n\n${helpText(invocation.command)}`);
    process.exitCode = 2;
}
