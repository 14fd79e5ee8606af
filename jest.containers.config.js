import config from './jest.config.js';

/** The checks of running containers, one after the other: `npm run containers`. */
const { globalSetup: _, testSequencer: __, ...rest } = config;

/** @type {import('jest').Config} */
export default {
  ...rest,
  testMatch: ['<rootDir>/test/containers/*.check.ts'],
  testSequencer: '<rootDir>/test/containers/in-order.cjs',
  testTimeout: 600_000,
};
