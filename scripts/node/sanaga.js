#!/usr/bin/env node
/*
 * The command `sanaga`, which npm links into node_modules/.bin. If it were a command of the project itself, npx would
 * read all of node_modules first, which takes a second.
 */
import { existsSync } from 'node:fs';

const program = new URL('../../build/cli/main.js', import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write('sanaga: it is not built: npm run build\n');
  process.exitCode = 1;
}
