import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { paymentSearchAttributes } from '../../../src/temporal/search-attributes.js';
import { isPortFree } from '../../../stack/processes/ports.js';
import { sdkDownloadPath } from '../../../stack/temporal/sdk-download.js';
import { findTestServer } from '../../../stack/temporal/test-server.js';
import { startTimeSkippingEnvironment } from '../../../stack/temporal/time-skipping.js';
import { makeScratchFolder } from '../scratch-folder.js';
import { begin, sleepADay } from './probe-workflow.js';

const require = createRequire(import.meta.url);
const DAY = 24 * 60 * 60 * 1_000;

describe('the time-skipping environment', () => {
  let environment: TestWorkflowEnvironment;

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    environment = await startTimeSkippingEnvironment({ report: () => undefined });
  }, 120_000);

  afterAll(async () => {
    await environment.teardown();
  });

  it('runs update-with-start, upserted search attributes and a sleep of a day within seconds', async () => {
    const worker = await Worker.create({
      connection: environment.nativeConnection,
      taskQueue: 'probe',
      workflowsPath: require.resolve('./probe-workflow.ts'),
      bundlerOptions: {
        webpackConfigHook: (config) => ({
          ...config,
          resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
        }),
      },
    });
    const startedAt = await environment.currentTimeMs();
    const { workflow } = environment.client;

    const [answer, result] = await worker.runUntil(async () => {
      const startWorkflowOperation = new WithStartWorkflowOperation(sleepADay, {
        workflowId: 'probe',
        taskQueue: 'probe',
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      const first = await workflow.executeUpdateWithStart(begin, {
        startWorkflowOperation,
        args: ['a merchant'],
      });
      const handle = await startWorkflowOperation.workflowHandle();
      return [first, await handle.result()] as const;
    });

    expect(answer).toBe('begun by a merchant');
    expect(result).toBe('a merchant');
    expect((await environment.currentTimeMs()) - startedAt).toBeGreaterThanOrEqual(DAY);
    const { typedSearchAttributes } = await workflow.getHandle('probe').describe();
    expect(typedSearchAttributes.get(paymentSearchAttributes.status)).toBe('EXPIRED');
    expect(typedSearchAttributes.get(paymentSearchAttributes.amount)).toBe(100);
  }, 60_000);

  it('is started again when the server is late', async () => {
    const folder = await makeScratchFolder();
    const server = await findTestServer({ report: () => undefined });
    const been = join(folder.path, 'been');
    const lateOnce = `[ -e ${been} ] && exec ${server} "$@"; touch ${been}; exec sleep 10`;
    await folder.script(basename(sdkDownloadPath('temporal-test-server', folder.path)), lateOnce);
    const lines: string[] = [];
    try {
      const report = (line: string) => void lines.push(line);
      await (await startTimeSkippingEnvironment({ folder: folder.path, report })).teardown();
    } finally {
      await folder.remove();
    }
    expect(lines).toContain('test server: too slow to start, trying again (2 of 10)');
  }, 60_000);

  it('leaves no server behind after its teardown', async () => {
    const other = await startTimeSkippingEnvironment({ report: () => undefined });
    const port = Number(other.address.split(':').at(-1));
    expect(await isPortFree(port)).toBe(false);

    await other.teardown();

    expect(await isPortFree(port)).toBe(true);
  }, 60_000);
});
