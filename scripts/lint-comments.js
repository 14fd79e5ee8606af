/*
 * Finds comments of more than 120 columns, as the formatter breaks code and leaves comments as they are, and subjects
 * of more than 72 among the last 50 commits, as far as a clone has them.
 */
import './supported-node.js';

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const COLUMNS = 120;
const SUBJECT = 72;
/** Patterns of lines that are comments, by the endings of files. */
const COMMENTS = [
  [/\.(c?js|ts)$/, /^ *(\/\*|\* |\/\/)/],
  [/(\.(sh|ya?ml)|^Dockerfile|^\.ci\/run)$/, /^ *# /],
];

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
// A file that was removed and not yet committed is listed, too.
for (const name of listed.split('\n').filter((one) => existsSync(one))) {
  const [, comment] = COMMENTS.find(([names]) => names.test(name)) ?? [];
  if (comment === undefined) continue;
  for (const [index, line] of readFileSync(name, 'utf8').split('\n').entries()) {
    if (line.length <= COLUMNS || !comment.test(line)) continue;
    process.stderr.write(`${name}:${index + 1}: a comment of ${line.length} columns, and ${COLUMNS} are the most\n`);
    process.exitCode = 1;
  }
}

const subjects = execFileSync('git', ['log', '-50', '--no-merges', '--format=%h %s'], { encoding: 'utf8' });
for (const line of subjects.split('\n')) {
  const subject = line.slice(line.indexOf(' ') + 1);
  if (subject.length <= SUBJECT) continue;
  process.stderr.write(`${line}: a subject of ${subject.length} characters, and ${SUBJECT} are the most\n`);
  process.exitCode = 1;
}
