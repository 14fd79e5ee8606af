import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { bundleWorkflows } from '../../../lab/world/worker.js';

/** The workflows of all simulations of a file, bundled once. */
export function useSimulationBundle(): { readonly path: string } {
  const bundle = { path: '' };
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-simulation-bundle-'));
    bundle.path = await bundleWorkflows(join(folder, 'workflows.js'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  return bundle;
}
