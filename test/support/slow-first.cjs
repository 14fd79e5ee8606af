/*
 * The order of the suites: what takes long first, so that none is still running alone at the end. jest would begin with
 * the longest files, or with those that took longest the last time, which a new machine doesn't know.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const ORDER = [
  ...require('./slow-suites.cjs'),
  'e2e/fuzz',
  // Of the others, those that take longest beside others.
  'e2e/payments',
  'workflows/replay',
  'workflows/direct-and-payout',
  'api/expire-and-refresh',
  'api/refunds',
  'api/stray-links',
  'workflows/cancellation',
  'workflows/held',
  'api/repeated-request',
  'workflows/resend',
  'workflows/collect-by-link',
  'workflows/review',
  'http/server',
  'http/request-limits',
  'provider/interpret',
  'api/routes/create-payment',
];

const rank = ({ path }) => {
  const place = ORDER.findIndex((suite) => /\.(test|check)\.ts$/.test(path) && path.includes(`/test/${suite}.`));
  return place === -1 ? ORDER.length : place;
};

module.exports = class extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }

  /** With `--shard`, the first part has what comes first in the order: whoever runs out of time has run that. */
  shard(tests, { shardIndex, shardCount }) {
    const begin = (index) => Math.floor((index * tests.length) / shardCount);
    return this.sort(tests).slice(begin(shardIndex - 1), begin(shardIndex));
  }
};
