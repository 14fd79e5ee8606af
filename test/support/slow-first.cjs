/*
 * The order of the suites: what takes long first, so that none is still running alone at the end. jest would begin with
 * the longest files, or with those that took longest the last time, which a new machine doesn't know.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const [longest, ...slow] = require('./slow-suites.cjs');
const ORDER = [
  longest,
  'e2e/fuzz',
  ...slow,
  // Of the others, those that take 20 seconds or more beside others.
  'browser/money-out',
  'e2e/payments',
  'bench/cost',
  'api/repeated-request',
  'activities/reset-check',
  'workflows/notifications',
  'stack/records/pglite-server',
  'workflows/personal-data',
  'workflows/review',
  'workflows/missing-key',
  'api/merchants-limits',
  'api/withdrawing',
  'workflows/direct-and-payout',
  'lab/explore/stories',
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

  /** With `--shard`, suites are dealt out in turn: no part takes much longer than another. */
  shard(tests, { shardIndex, shardCount }) {
    return this.sort(tests).filter((_, place) => place % shardCount === shardIndex - 1);
  }
};
