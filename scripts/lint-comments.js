/* Finds comments of more than 120 columns: the formatter breaks code, and leaves comments and strings as they are. */
import './supported-node.js';

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const COLUMNS = 120;
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
