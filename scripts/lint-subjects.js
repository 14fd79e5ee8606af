/* Finds subjects of more than 72 characters among the last 50 commits, as far as a clone has them. */
import './supported-node.js';

import { execFileSync } from 'node:child_process';

const CHARACTERS = 72;

const subjects = execFileSync('git', ['log', '-50', '--no-merges', '--format=%h %s'], { encoding: 'utf8' });
for (const line of subjects.split('\n')) {
  const { length } = line.slice(line.indexOf(' ') + 1);
  if (length <= CHARACTERS) continue;
  process.stderr.write(`${line}: a subject of ${length} characters, and ${CHARACTERS} are the most\n`);
  process.exitCode = 1;
}
