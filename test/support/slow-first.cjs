/*
 * The order of the suites: the slow ones first, so that none is still running alone at the end. jest would begin with the longest
 * files, or with those that took longest the last time, which a new machine doesn't know.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

/** What takes longest, the longest first. Between half a minute and two each on two cores, beside others. */
const SLOW = [
  'docs/snippets',
  'workflows/real-server',
  'lab/explore/mutants',
  'lab/simulation/broken-rules',
  'workflows/ambiguity',
  'api/creating-and-reading',
  'browser/web-ui',
  'lab/simulation/run-simulation',
  'lab/explore/explore',
  'records/records',
  'bench/cost',
  'api/forgotten-payments',
  'api/resolving',
  'worker/workflow-threads',
  'e2e/payments',
  'browser/desk',
  'browser/shop',
  'workflows/lost-worker',
  'e2e/processes',
  'api/rotating-keys',
  'e2e/start',
  'cli/commands',
  'workflows/rolling-versions',
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
