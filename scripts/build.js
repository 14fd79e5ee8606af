/* Builds lib/: compiles src, and bundles the workflows, so that a worker starts without a bundler. */
import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

await rm(path('lib'), { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [path('node_modules/@typescript/native/bin/tsc'), '-p', path('tsconfig.build.json')],
  {
    stdio: 'inherit',
  },
);
if (status !== 0) process.exit(status ?? 1);

const quiet = () => undefined;
const complain = (message) => process.stderr.write(`${message}\n`);
const { code } = await bundleWorkflowCode({
  workflowsPath: path('lib/workflows/index.js'),
  logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: complain, error: complain },
});
await writeFile(path('lib/workflow-bundle.js'), code);
