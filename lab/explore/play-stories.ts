import { readFile } from 'node:fs/promises';
import { playStory, StoryMismatch } from './play-story.js';
import type { Machine } from './situation.js';
import { randomStory } from './stories.js';
import { WorkflowVm } from './workflow-vm.js';

/** The workflows, bundled when the project was built. */
const WORKFLOW_BUNDLE = new URL('../../../lib/workflow-bundle.js', import.meta.url);

/** Stories between two lines of progress. */
const PROGRESS_EVERY = 1_000;

/**
 * Plays random stories through the built workflows, of which one message in three comes in while a question is under way.
 *
 * @returns how many of them the workflows did something else in than the machine says
 */
export async function playStories(
  machine: Machine,
  count: number,
  progress: (line: string) => void,
): Promise<{ readonly mismatches: number }> {
  const vm = await WorkflowVm.create(await readFile(WORKFLOW_BUNDLE, 'utf8'));
  let [activations, messages, mismatches] = [0, 0, 0];
  for (let seed = 1; seed <= count; seed++) {
    try {
      activations += await playStory(vm, randomStory(machine, seed), () => ++messages % 3 === 0);
    } catch (error) {
      if (!(error instanceof StoryMismatch)) throw error;
      mismatches += 1;
      progress(`story ${seed}: ${error.message}`);
    }
    if (seed % PROGRESS_EVERY === 0) progress(`${seed} stories, ${activations} activations`);
  }
  return { mismatches };
}
