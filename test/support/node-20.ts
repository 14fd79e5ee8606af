import { execFile } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The machine's own Node, which runs npm, when it is 20: that of the project is newer. By the path that it calls its
 * own.
 */
export async function findNode20(): Promise<string | undefined> {
  for (const node of nodesOfTheMachine()) {
    const { stdout } = await run(node, ['--version']);
    if (stdout.startsWith('v20.')) return realpathSync(node);
  }
  return undefined;
}

function nodesOfTheMachine(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  return [...new Set([...folders, '/usr/local/bin', '/usr/bin'])].map((one) => join(one, 'node')).filter(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
