const { default: Sequencer } = require('@jest/test-sequencer');

/** The order in which suites are run: what changes least comes first. */
const ORDER = [
  'payments',
  'rights',
  'networks',
  'pages',
  'metrics',
  'memory',
  'scale',
  'health',
  'kills',
  'secrets',
  'runbook',
  'chart',
  'disk',
];

module.exports = class extends Sequencer {
  sort(tests) {
    const place = ({ path }) => ORDER.findIndex((name) => path.endsWith(`/${name}.check.ts`));
    return [...tests].sort((one, other) => place(one) - place(other));
  }
};
