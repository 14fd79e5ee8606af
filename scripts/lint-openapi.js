/* Lints docs/openapi.json by the rules of redocly.yaml, without asking anybody for a newer version of the linter. */
import './supported-node.js';

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [path('node_modules/@redocly/cli/bin/cli.js'), 'lint', 'docs/openapi.json'],
  {
    cwd: path(''),
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    encoding: 'utf8',
  },
);
if (status !== 0) process.stderr.write(`${stdout}${stderr}`);
process.exitCode = status ?? 1;
