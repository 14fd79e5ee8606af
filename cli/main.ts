#!/usr/bin/env node
import { CommanderError } from 'commander';
import { createProgram } from './program.js';

/** The exit code for a command line that can't be understood. */
const EXIT_USAGE = 2;

// Whoever reads the help through `head` has seen enough of it.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

const program = createProgram();
try {
  if (process.argv.length <= 2) {
    program.outputHelp({ error: true });
    program.error('error: which command?');
  }
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
}
