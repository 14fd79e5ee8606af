import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Whether this runs from the source, as tests do, or compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** Bundles the workflows into a file, as they are but for their timers: see `workflow-timers.ts`. */
export async function bundleWorkflows(file: string): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: here(`../../../src/workflows/index.${EXTENSION}`),
    workflowInterceptorModules: [here(`./workflow-timers.${EXTENSION}`)],
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
    }),
  });
  await writeFile(file, code);
}

function here(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
