/*
 * Builds lib/, which is all that production runs: src compiled, and its workflows bundled, so that a worker starts
 * without a bundler. Then, unless `--production` says not to, build/:
 * the sandbox, the stack, the lab and the command line; and dist/: the merchants' client as a package of its own, with
 * its types.
 *
 * A folder is made anew when anything has changed that it is made of, or anything in it. What was edited by hand in
 * node_modules isn't seen: `--force` builds all the same.
 */
import './supported-node.js';

import { spawnSync } from 'node:child_process';
import { chmod, copyFile, cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { checkNodeFirst, PROGRAMS } from './programs.js';
import { unlessBuilt } from './unless-built.js';

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

/** Files that every build depends on. npm records the installed packages in the last of them. */
const ALWAYS = [
  'scripts/build.js',
  'scripts/programs.js',
  'scripts/supported-node.js',
  'scripts/unless-built.js',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
];

await make('lib', ['src', 'tsconfig.build.json'], async () => {
  await compile('tsconfig.build.json');
  await bundleWorkflows();
  await copyUncompiled('lib');
  await checkNodeFirst(path('lib'), PROGRAMS.lib);
});
if (!process.argv.includes('--production')) {
  const rooms = ['bench', 'cli', 'client', 'lab', 'sandbox', 'src', 'stack'];
  await make('build', [...rooms, 'tsconfig.build.json', 'tsconfig.tools.json'], async () => {
    await compile('tsconfig.tools.json');
    const unnamed = (await readdir(path('build'))).filter((room) => !rooms.includes(room));
    if (unnamed.length > 0) throw new Error(`build/ is also made of ${unnamed}: name it in scripts/build.js`);
    await copyUncompiled('build/src');
    await checkNodeFirst(path('build'), PROGRAMS.build);
    // npx makes a command executable only when it links it for the first time, and each build makes the file anew.
    await chmod(path('build/cli/main.js'), 0o755);
  });
  await make('dist', ['client', 'tsconfig.client.json'], async () => {
    await compile('tsconfig.client.json');
    await describeClient();
  });
}

function make(folder, sources, build) {
  const force = process.argv.includes('--force');
  return unlessBuilt({ root: path(''), folder, sources: [...ALWAYS, ...sources], force }, build);
}

function compile(project) {
  const tsc = path('node_modules/@typescript/native/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', path(project)], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** SQL and the script of the API's reference, which the compiler leaves where they are. */
async function copyUncompiled(folder) {
  for (const name of ['book/migrations', 'api/rapidoc']) {
    await cp(path(`src/${name}`), path(`${folder}/${name}`), { recursive: true });
  }
}

async function bundleWorkflows() {
  // It takes longer to load than to find that nothing has changed.
  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const quiet = () => undefined;
  const complain = (message) => process.stderr.write(`${message}\n`);
  const workflowsPath = path('lib/workflows/index.js');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    // Evaluated once for each thread, and frozen, rather than for each payment.
    preloadModules: [workflowsPath],
    failureConverterPath: path('lib/temporal/failure-converter.js'),
    payloadConverterPath: path('lib/temporal/payload-converter.js'),
    logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: complain, error: complain },
  });
  await writeFile(path('lib/workflow-bundle.js'), code);
}

/** The client needs none of the server's packages, so a merchant can install dist/ instead of the whole project. */
async function describeClient() {
  const { name, version, license, type } = JSON.parse(await readFile(path('package.json'), 'utf8'));
  const client = {
    name,
    version,
    description: "The client of Sanaga's API",
    license,
    type,
    sideEffects: false,
    files: ['client'],
    engines: { node: '>=20' },
    exports: { './client': { types: './client/index.d.ts', default: './client/index.js' } },
  };
  await writeFile(path('dist/package.json'), `${JSON.stringify(client, null, 2)}\n`);
  await copyFile(path('LICENSE'), path('dist/LICENSE'));
}
