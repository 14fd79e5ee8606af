import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Bundles the workflows from their source once for all suites, so that no test ever runs a stale build. */
export default async function bundleWorkflows(): Promise<void> {
  const { code } = await bundleFromSource();
  const folder = here('../../node_modules/.cache/sanaga');
  const digest = createHash('sha256').update(code).digest('hex').slice(0, 16);
  const path = `${folder}/workflows-${digest}.js`;
  await mkdir(folder, { recursive: true });
  // Two runs at once may write the same bundle: neither may read half of it.
  await writeFile(`${path}.${process.pid}`, code);
  await rename(`${path}.${process.pid}`, path);
  process.env.WORKFLOW_BUNDLE = path;
}

/** The workflows as they are today, with these files' interceptors on top: another version of them. */
export async function bundleFromSource(interceptors: readonly string[] = []): Promise<{ code: string }> {
  const workflowsPath = here('../../src/workflows/index.ts');
  const queryGuard = here('../../src/workflows/query-guard.ts');
  return await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [queryGuard, ...interceptors],
    preloadModules: [workflowsPath, queryGuard],
    failureConverterPath: here('../../src/temporal/failure-converter.ts'),
    payloadConverterPath: here('../../src/temporal/payload-converter.ts'),
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
    }),
  });
}

/** The bundle that {@link bundleWorkflows} made. */
export function workflowBundle(): { codePath: string } {
  const { WORKFLOW_BUNDLE: codePath } = process.env;
  if (codePath === undefined) throw new Error('no workflow bundle: run the tests through jest.config.js');
  return { codePath };
}

function here(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
