import { readFile } from 'node:fs/promises';
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
import { makeScratchFolder, type ScratchFolder } from '../scratch-folder.js';
import { begin, sleepADay } from './probe-workflow.js';

const require = createRequire(import.meta.url);
const DAY = 24 * 60 * 60 * 1_000;

describe('the time-skipping environment', () => {
  let environment: TestWorkflowEnvironment;

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    environment = await startTimeSkippingEnvironment({ report: () => undefined });
  });

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
    expect(typedSearchAttributes.get(paymentSearchAttributes.transId)).toBe('100');
  });

  it('waits for a server that is late', async () => {
    const folder = await makeScratchFolder();
    const server = await findTestServer({ report: () => undefined });
    await folder.script(testServerIn(folder), `sleep 6; exec ${server} "$@"`);
    try {
      const late = await startTimeSkippingEnvironment({ folder: folder.path, report: () => undefined });
      expect(await late.currentTimeMs()).toBeGreaterThan(0);
      await late.teardown();
    } finally {
      await folder.remove();
    }
  });

  it('stops a server that came too late', async () => {
    const folder = await makeScratchFolder();
    const pidFile = join(folder.path, 'pid');
    await folder.script(testServerIn(folder), `echo $$ > ${pidFile}; exec sleep 60`);
    try {
      const options = { folder: folder.path, report: () => undefined, startLimitMs: 3_000 };
      await expect(startTimeSkippingEnvironment(options)).rejects.toThrow('test server: not ready after 3 s');
      const pid = Number(await readFile(pidFile, 'utf8'));
      expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    } finally {
      await folder.remove();
    }
  });

  it('leaves no server behind after its teardown', async () => {
    const other = await startTimeSkippingEnvironment({ report: () => undefined });
    const port = Number(other.address.split(':').at(-1));
    expect(await isPortFree(port)).toBe(false);

    await other.teardown();

    expect(await isPortFree(port)).toBe(true);
  });
});

/** The name of the test server's executable in a cache folder. */
function testServerIn({ path }: ScratchFolder): string {
  return basename(sdkDownloadPath('temporal-test-server', path));
}
