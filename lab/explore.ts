import { EXPLORE, runProgram } from './command-line.js';
import { MACHINE } from './explore/machine.js';
import { describeBroken, describeRules, exploreAll } from './explore/report.js';
import { defaultSettings } from './explore/settings.js';
import { exploreSmallModels } from './explore/small-models.js';
import { walkInThreads } from './explore/walks.js';

/** `npm run explore`: exits with 1 if a rule was broken. */
const write = (line: string) => process.stdout.write(`${line}\n`);
const progress = (line: string) => process.stderr.write(`${line}\n`);

await runProgram(EXPLORE, async ({ depth, states, seconds, walks, seed, json }) => {
  if (walks > 0) return playWalks(walks, seed, json);
  const bounds = {
    ...(depth > 0 && { depth }),
    ...(states > 0 && { states }),
    ...(seconds > 0 && { seconds }),
  };
  if (!json) write(describeRules());
  const { result, broken } = exploreAll(MACHINE, defaultSettings(), bounds, progress);
  for (const one of broken) (json ? progress : write)(describeBroken(one));
  // Of each of its worlds, a sixth of the machine's states; its mutants take some 25,000.
  const book = exploreSmallModels(Math.max(Math.ceil(states / 6), 50_000), json ? progress : write);
  for (const { rule, story } of book.broken) progress(['BROKEN, in a small model:', rule, ...story].join('\n  '));
  write(JSON.stringify({ ...result, book }));
  return broken.length + book.broken.length > 0 ? 1 : 0;
});

/** Random walks, each printed with its seed if it breaks a rule. */
async function playWalks(walks: number, seed: number, json: boolean): Promise<number> {
  const result = await walkInThreads({ walks, seed }, (broken) => (json ? progress : write)(describeBroken(broken)));
  write(JSON.stringify(result));
  return result.violations === 0 ? 0 : 1;
}
