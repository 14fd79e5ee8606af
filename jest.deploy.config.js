import config from './jest.config.js';

/** The checks of what is deployed, which build programs with Go: `npm run deploy:check`. */
const { globalSetup: _, testSequencer: __, ...rest } = config;

/** @type {import('jest').Config} */
export default { ...rest, testMatch: ['<rootDir>/test/deploy/*.check.ts'], testTimeout: 1_800_000 };
