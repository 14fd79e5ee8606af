import config from './jest.config.js';

/** The suites that need programs which npm doesn't bring, such as Python and PHP: `npm run test:installed`. */
const { globalSetup: _, testSequencer: __, ...rest } = config;

/** @type {import('jest').Config} */
export default { ...rest, testMatch: ['<rootDir>/test/{docs,e2e}/*.check.ts'] };
