/*
 * Generates a Python client from docs/openapi.json into a folder: `node scripts/generate-client.js FOLDER`. Prints a
 * Python that can run it.
 */
import './supported-node.js';

import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonTool } from './python-tool.js';

const [folder = 'sanaga_client'] = process.argv.slice(2);
const bin = await pythonTool('openapi-python-client');
const document = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));
const { status, stdout, stderr } = spawnSync(
  join(bin, 'openapi-python-client'),
  ['generate', '--fail-on-warning', '--path', document, '--output-path', folder, '--meta', 'none'],
  { encoding: 'utf8', env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` } },
);
if (status === 0) process.stdout.write(`${join(bin, 'python')}\n`);
else process.stderr.write(`${stdout}${stderr}`);
process.exitCode = status ?? 1;
