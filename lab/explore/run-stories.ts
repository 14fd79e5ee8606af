import { readFile } from 'node:fs/promises';
import { runStory, StoryMismatch, type Variation } from './run-story.js';
import type { Machine } from './situation.js';
import { randomStory } from './stories.js';
import { WorkflowVm } from './workflow-vm.js';

/** Ways to tell stories, all different: call it for each of them with its number. */
export function variations(): (seed: number) => Variation {
  let messages = 0;
  return (seed) => ({
    isMadeByApi: seed % 2 === 0,
    isEarly: () => ++messages % 3 === 0,
    cancelAt: seed % 5,
  });
}

/** The workflows, bundled when the project was built. */
const WORKFLOW_BUNDLE = new URL('../../../lib/workflow-bundle.js', import.meta.url);

/** Stories between two lines of progress. */
const PROGRESS_EVERY = 1_000;

/**
 * Runs random stories through the built workflows: every other link was made by the API, one message in three comes in
 * while a question is under way, and in most stories somebody presses Cancel.
 *
 * @returns in how many of them a workflow did something else than the machine says
 */
export async function runStories(
  machine: Machine,
  count: number,
  progress: (line: string) => void,
): Promise<{ readonly mismatches: number }> {
  const vm = await WorkflowVm.create(await readFile(WORKFLOW_BUNDLE, 'utf8'));
  const tellingOf = variations();
  let [activations, mismatches] = [0, 0];
  for (let seed = 1; seed <= count; seed++) {
    try {
      activations += await runStory(vm, randomStory(machine, seed), tellingOf(seed));
    } catch (error) {
      if (!(error instanceof StoryMismatch)) throw error;
      mismatches += 1;
      progress(`story ${seed}: ${error.message}`);
    }
    if (seed % PROGRESS_EVERY === 0) progress(`${seed} stories, ${activations} activations`);
  }
  return { mismatches };
}
