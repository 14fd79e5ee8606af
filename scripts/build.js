/*
 * Builds lib/, which is all that production runs: src compiled, and its workflows bundled, so that a worker starts without
 * a bundler, and the script that shows the API's reference. Then, unless `--production` says not to, build/: the sandbox,
 * the stack, the lab and the command line; and dist/: the merchants' client as a package of its own, with its types.
 */
import { spawnSync } from 'node:child_process';
import { chmod, copyFile, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

await compile('lib', 'tsconfig.build.json');
await bundleWorkflows();
await copyMigrations('lib');
await copyFile(path('node_modules/rapidoc/dist/rapidoc-min.js'), path('lib/rapidoc.js'));
if (!process.argv.includes('--production')) {
  await compile('build', 'tsconfig.tools.json');
  await copyMigrations('build/src');
  // npx makes a command executable only when it links it for the first time, and each build makes the file anew.
  await chmod(path('build/cli/main.js'), 0o755);
  await compile('dist', 'tsconfig.client.json');
  await describeClient();
}

async function compile(folder, project) {
  await rm(path(folder), { recursive: true, force: true });
  const tsc = path('node_modules/@typescript/native/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', path(project)], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** SQL, which the compiler leaves where it is. */
async function copyMigrations(folder) {
  await cp(path('src/records/migrations'), path(`${folder}/records/migrations`), { recursive: true });
}

async function bundleWorkflows() {
  const quiet = () => undefined;
  const complain = (message) => process.stderr.write(`${message}\n`);
  const workflowsPath = path('lib/workflows/index.js');
  const queryGuard = path('lib/workflows/query-guard.js');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    // Evaluated once for each thread, and frozen, rather than for each payment.
    preloadModules: [workflowsPath, queryGuard],
    workflowInterceptorModules: [queryGuard],
    failureConverterPath: path('lib/temporal/failure-converter.js'),
    logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: complain, error: complain },
  });
  await writeFile(path('lib/workflow-bundle.js'), code);
}

/** The client needs nothing of what the server does, so that a merchant can install dist/ instead of the whole project. */
async function describeClient() {
  const { name, version, license, type } = JSON.parse(await readFile(path('package.json'), 'utf8'));
  const client = {
    name,
    version,
    description: "The client of Sanaga's API",
    license,
    type,
    sideEffects: false,
    engines: { node: '>=20' },
    exports: { './client': { types: './client/index.d.ts', default: './client/index.js' } },
  };
  await writeFile(path('dist/package.json'), `${JSON.stringify(client, null, 2)}\n`);
}
