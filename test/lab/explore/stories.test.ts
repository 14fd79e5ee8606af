import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { MACHINE } from '../../../lab/explore/machine.js';
import { variations } from '../../../lab/explore/run-stories.js';
import { runStory, StoryMismatch } from '../../../lab/explore/run-story.js';
import { randomStory } from '../../../lab/explore/stories.js';
import { WorkflowVm } from '../../../lab/explore/workflow-vm.js';
import { workflowBundle } from '../../support/bundle-workflows.js';

/** Stories that are played on each run; `npm run explore -- --stories N` plays more. */
const STORIES = 300;

let vm: WorkflowVm;
beforeAll(async () => {
  vm = await WorkflowVm.create(await readFile(workflowBundle().codePath, 'utf8'));
});

describe('The built workflows', () => {
  it('do what the machine says in stories of the exploration, cancelled or not, and the same when they are replayed', async () => {
    const tellingOf = variations();
    let activations = 0;
    for (let seed = 1; seed <= STORIES; seed++) {
      activations += await runStory(vm, randomStory(MACHINE, seed), tellingOf(seed));
    }
    expect(activations).toBeGreaterThan(10 * STORIES);
  });

  it('are found out when they leave a command out', async () => {
    const forgetful = {
      run: async (...args: Parameters<WorkflowVm['run']>) => {
        const run = await vm.run(...args);
        const activate = run.activate.bind(run);
        return Object.assign(run, {
          activate: async (...given: Parameters<typeof activate>) => (await activate(...given)).slice(1),
        });
      },
    } as unknown as WorkflowVm;
    await expect(runStory(forgetful, randomStory(MACHINE, 1), variations()(1))).rejects.toThrow(StoryMismatch);
  });
});
