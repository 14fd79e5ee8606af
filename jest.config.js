/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/plain-global.cjs',
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/support/bundle-workflows.ts',
  globalTeardown: '<rootDir>/test/support/stop-book-server.ts',
  testSequencer: '<rootDir>/test/support/slow-first.cjs',
  // For what hangs alone: a busy machine takes many times as long for a test, and no other limit is shorter.
  testTimeout: 600_000,
  // jest keeps most of a suite's modules, 60 MB of a stack's, and a full heap makes all later suites slow: a fifth of
  // the CPU time.
  workerIdleMemoryLimit: '600MB',
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  // For --coverage. Workflows run as a bundle, where it sees nothing.
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.ts', '!src/workflows/**'],
  coverageReporters: ['text-summary'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^sanaga/client$': '<rootDir>/client/index.ts',
  },
};
