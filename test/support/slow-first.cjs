/*
 * The order of the suites: the slow ones first, so that none is still running alone at the end. jest would begin with the longest
 * files, or with those that took longest the last time, which a new machine doesn't know.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

/** What takes longest, the longest first. Between half a minute and two each on two cores, beside others. */
const SLOW = [
  'workflows/ambiguity',
  'lab/simulation/broken-rules',
  'lab/simulation/run-simulation',
  'browser/web-ui',
  'lab/explore/mutants',
  'browser/desk',
  'docs/snippets',
  'workflows/real-server',
  'cli/commands',
  'records/records',
  'lab/explore/explore',
  'api/rotating-keys',
  'stack/records/pglite-server',
  'e2e/start',
  'browser/shop',
  'api/creating-and-reading',
  'api/payments/list-payments',
  'e2e/processes',
  'api/resolving',
  'workflows/lost-worker',
  'e2e/payments',
  'e2e/records',
  'workflows/history',
  'workflows/rolling-versions',
  'browser/reference',
  'bench/cost',
  'api/forgotten-payments',
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
