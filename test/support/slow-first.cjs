/*
 * The order of the suites: the slow ones first, so that none is still running alone at the end. jest would begin with the longest
 * files, or with those that took longest the last time, which a new machine doesn't know.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

/** What takes longest, the longest first. Between half a minute and two each on two cores, beside others. */
const SLOW = [
  'lab/simulation/broken-rules',
  'e2e/fuzz',
  'docs/snippets',
  'lab/simulation/run-simulation',
  'api/creating-and-reading',
  'cli/commands',
  'workflows/ambiguity',
  'bench/cost',
  'workflows/collect-by-link',
  'e2e/start',
  'api/resolving',
  'e2e/processes',
  'workflows/real-server',
  'workflows/rolling-versions',
  'browser/shop',
  'browser/desk',
  'workflows/lost-worker',
  'e2e/payments',
  'lab/explore/mutants',
  'lab/explore/explore',
];

const rank = ({ path }) => {
  const place = SLOW.findIndex((suite) => path.endsWith(`/test/${suite}.test.ts`));
  return place === -1 ? SLOW.length : place;
};

module.exports = class extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
};
