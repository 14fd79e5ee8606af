import { objectionTo, step } from '../../src/payments/machine.js';
import { openPayment } from '../../src/payments/payment-state.js';
import { UsageError } from '../simulation/command-line.js';
import { readCommandLine, USAGE } from './command-line.js';
import { playStories } from './play-stories.js';
import { describeBroken, describeRules, exploreAll } from './report.js';
import { defaultWorlds } from './worlds.js';

/** `npm run explore`: exits with 1 when a rule was broken, with 64 when it was called wrongly. */
const machine = { openPayment, step, objectionTo };
const write = (line: string) => process.stdout.write(`${line}\n`);
const progress = (line: string) => process.stderr.write(`${line}\n`);

try {
  const { depth, states, seconds, stories, json } = readCommandLine(process.argv.slice(2));
  const bounds = {
    ...(depth > 0 && { depth }),
    ...(states > 0 && { states }),
    ...(seconds > 0 && { seconds }),
  };
  if (!json) write(describeRules());
  const { result, broken } = exploreAll(machine, defaultWorlds(), bounds, progress);
  for (const one of broken) (json ? progress : write)(describeBroken(one));
  const told = stories === 0 ? undefined : await playStories(machine, stories, progress);
  write(JSON.stringify({ ...result, ...(told && { stories, mismatches: told.mismatches }) }));
  process.exitCode = broken.length === 0 && (told?.mismatches ?? 0) === 0 ? 0 : 1;
} catch (error) {
  const isUsage = error instanceof UsageError;
  progress(isUsage ? `${error.message}\n${USAGE}` : String(error instanceof Error ? error.stack : error));
  process.exitCode = isUsage ? 64 : 1;
}
