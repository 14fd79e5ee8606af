import { step } from '../src/payments/machine/machine.js';
import { objectionTo } from '../src/payments/machine/requests.js';
import { openPayment } from '../src/payments/words/payment-state.js';
import { EXPLORE, runProgram } from './command-line.js';
import { exploreBeginnings } from './explore/beginnings.js';
import { describeBroken, describeRules, exploreAll } from './explore/report.js';
import { runStories } from './explore/run-stories.js';
import { defaultSettings } from './explore/settings.js';
import { walkInThreads } from './explore/walks.js';

/** `npm run explore`: exits with 1 if a rule was broken or a workflow did something else than the machine says. */
const machine = { openPayment, step, objectionTo };
const write = (line: string) => process.stdout.write(`${line}\n`);
const progress = (line: string) => process.stderr.write(`${line}\n`);

await runProgram(EXPLORE, async ({ depth, states, seconds, stories, walks, seed, json }) => {
  if (walks > 0) return playWalks(walks, seed, json);
  const bounds = {
    ...(depth > 0 && { depth }),
    ...(states > 0 && { states }),
    ...(seconds > 0 && { seconds }),
  };
  if (!json) write(describeRules());
  const { result, broken } = exploreAll(machine, defaultSettings(), bounds, progress);
  for (const one of broken) (json ? progress : write)(describeBroken(one));
  const run = stories === 0 ? undefined : await runStories(machine, stories, progress);
  const beginnings = await exploreBeginnings({ steps: 4, walks: 20_000 });
  for (const rule of beginnings.broken) progress(`BROKEN, as links begin: ${rule}`);
  write(JSON.stringify({ ...result, beginnings, ...(run && { stories, mismatches: run.mismatches }) }));
  return broken.length === 0 && beginnings.broken.length === 0 && (run?.mismatches ?? 0) === 0 ? 0 : 1;
});

/** Random walks, each printed with its seed if it breaks a rule. */
async function playWalks(walks: number, seed: number, json: boolean): Promise<number> {
  const result = await walkInThreads({ walks, seed }, (broken) => (json ? progress : write)(describeBroken(broken)));
  write(JSON.stringify(result));
  return result.violations === 0 ? 0 : 1;
}
