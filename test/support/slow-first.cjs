/*
 * The order of the suites: what takes long first, so that none is still running alone at the end. jest would begin with
 * the longest files, or with those that took longest the last time, which a new machine doesn't know.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const ORDER = [
  ...require('./slow-suites.cjs'),
  'e2e/fuzz',
  // Of the others, those that take longest beside others.
  'workflows/clocks',
  'workflows/direct-and-payout',
  'api/expire-and-refresh',
  'e2e/payments',
  'e2e/replay',
  'workflows/notifications',
  'activities/sending',
  'http/server',
  'api/second-person',
  'api/refunds-withheld',
  'provider/interpret',
  'book/interleavings',
  'api/refunds',
  'api/merchants-limits',
  'http/request-limits',
  'api/routes/statement-json',
  'statements/so-far',
  'api/withdrawing',
  'workflows/cancellation',
  'workflows/collect-by-link',
  'workflows/replay',
];

const rank = ({ path }) => {
  const place = ORDER.findIndex((suite) => /\.(test|check)\.ts$/.test(path) && path.includes(`/test/${suite}.`));
  return place === -1 ? ORDER.length : place;
};

module.exports = class extends Sequencer {
  static ORDER = ORDER;

  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }

  /** With `--shard`, the first part has what comes first in the order: whoever runs out of time has run that. */
  shard(tests, { shardIndex, shardCount }) {
    const begin = (index) => Math.floor((index * tests.length) / shardCount);
    return this.sort(tests).slice(begin(shardIndex - 1), begin(shardIndex));
  }
};
