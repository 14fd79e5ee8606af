import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { connectClient } from '../../../src/temporal/connection.js';
import { freePort } from '../../../stack/processes/ports.js';
import { devServerArguments, startDevServer } from '../../../stack/temporal/start-dev-server.js';
import { testEncryption } from '../../support/test-encryption.js';
import { makeScratchFolder, type ScratchFolder } from '../scratch-folder.js';

const report = () => undefined;

describe('the dev server', () => {
  let scratch: ScratchFolder;

  beforeEach(async () => {
    scratch = await makeScratchFolder();
  });

  afterEach(async () => {
    await scratch.remove();
  });

  /** Starts one of the test's own in the place of Temporal. */
  async function startFake(body: string, startLimitMs = 30_000) {
    const path = await scratch.script('temporal', body);
    return await startDevServer({ report, startLimitMs, find: async () => ({ path, version: '1.29.1' }) });
  }

  it('comes up with its Web UI and the search attributes, and leaves no process behind', async () => {
    const server = await startDevServer({ report });
    const { workflow, connection } = connectClient(server, testEncryption);

    const page = await fetch(server.uiUrl ?? '');
    expect(page.ok).toBe(true);
    const { count } = await workflow.count("PaymentStatus = 'PENDING' AND TransId = 't'");
    expect(count).toBe(0);
    await connection.close();

    await server.stop();
    expect(() => process.kill(server.pid, 0)).toThrow(/ESRCH/);
  });

  it('keeps its workflows in the database file', async () => {
    const databaseFile = join(scratch.path, 'state', 'temporal.db');
    const first = await startDevServer({ report, databaseFile, ui: false });
    const before = connectClient(first, testEncryption);
    await before.workflow.start('any', { workflowId: 'kept', taskQueue: 'q' });
    await before.connection.close();
    await first.stop();

    const second = await startDevServer({ report, databaseFile, ui: false });
    const after = connectClient(second, testEncryption);
    const { status } = await after.workflow.getHandle('kept').describe();
    await after.connection.close();
    await second.stop();

    expect(status.name).toBe('RUNNING');
  });

  it('has kept what it has answered when it is killed, and comes back on its port', async () => {
    const databaseFile = join(scratch.path, 'temporal.db');
    const port = await freePort();
    const first = await startDevServer({ report, databaseFile, port, ui: false });
    const { workflow, connection } = connectClient(first, testEncryption);
    for (let nth = 0; nth < 20; nth++) await workflow.start('any', { workflowId: `kept-${nth}`, taskQueue: 'q' });
    await first.kill();
    expect(await first.ended).toBe('SIGKILL');

    const second = await startDevServer({ report, databaseFile, port, ui: false });
    for (let nth = 0; nth < 20; nth++) {
      expect((await workflow.getHandle(`kept-${nth}`).describe()).status.name).toBe('RUNNING');
    }
    await connection.close();
    await second.stop();
  });

  it('makes the namespace it is told to', async () => {
    const server = await startDevServer({ report, ui: false, namespace: 'payments' });
    const { workflow, connection } = connectClient(server, testEncryption);

    expect((await workflow.count("PaymentKind = 'payout'")).count).toBe(0);

    await connection.close();
    await server.stop();
  });

  it('refuses a port that is taken, for whatever listens there would answer in its place', async () => {
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));

    await expect(startDevServer({ report, port })).rejects.toThrow(`port ${port} of 127.0.0.1 is taken`);
    await new Promise((resolve) => other.close(resolve));
  });

  it('fails with the end of its log when it ends while it starts', async () => {
    const attempt = startFake('echo "disk is full" >&2; exit 5');

    await expect(attempt).rejects.toThrow(/ended with code 5\ndisk is full/);
  });

  it('fails, and is stopped, when it does not answer in time', async () => {
    const pidFile = join(scratch.path, 'pid');
    const attempt = startFake(`echo $$ > ${pidFile}; echo "still thinking"; exec sleep 60`, 3_000);

    await expect(attempt).rejects.toThrow(/not ready after 3 s\nstill thinking/);
    const pid = Number(await readFile(pidFile, 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  });
});

describe("the dev server's arguments", () => {
  it('keep it on this machine, without Web UI and in memory unless told otherwise', () => {
    const args = devServerArguments({ port: 7000, namespace: 'default' }).join(' ');

    expect(args).toMatch(/^server start-dev --ip 127\.0\.0\.1 --port 7000 --headless --namespace default /);
    expect(args).not.toContain('--db-filename');
  });

  it("have the settings of docker-compose's server", async () => {
    const file = new URL('../../../deploy/temporal-dynamic-config.yaml', import.meta.url);
    const settings: Record<string, [{ value: unknown }]> = parse(await readFile(file, 'utf8'));
    expect(Object.keys(settings)).toContain('matching.numTaskqueueWritePartitions');
    const args = devServerArguments({ port: 7000, namespace: 'default' });
    for (const [name, [{ value }]] of Object.entries(settings)) {
      expect(args).toContain(`${name}=${value}`);
    }
  });

  it('name the Web UI port and the database file', () => {
    const args = devServerArguments({ port: 1, uiPort: 2, namespace: 'n', databaseFile: '/state/t.db' });

    expect(args.join(' ')).toContain('--ui-port 2 --namespace n --db-filename /state/t.db');
    expect(args).not.toContain('--headless');
  });

  it('have the Web UI read payloads where it is told to', () => {
    const args = devServerArguments({
      port: 1,
      uiPort: 2,
      namespace: 'n',
      codecEndpoint: 'http://127.0.0.1:3',
    });

    expect(args.join(' ')).toContain('--ui-codec-endpoint http://127.0.0.1:3 ');
    expect(devServerArguments({ port: 1, uiPort: 2, namespace: 'n' })).not.toContain('--ui-codec-endpoint');
  });

  it("name the port of the metrics, which nobody has who didn't ask", () => {
    const args = devServerArguments({ port: 1, metricsPort: 3, namespace: 'n' });

    expect(args.join(' ')).toContain('--metrics-port 3');
    expect(devServerArguments({ port: 1, namespace: 'n' })).not.toContain('--metrics-port');
  });

  it('have a database file written to the disk before anything is answered', () => {
    const args = devServerArguments({ port: 1, namespace: 'n', databaseFile: '/state/t.db' }).join(' ');

    expect(args).toContain('--sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=FULL');
    expect(devServerArguments({ port: 1, namespace: 'n' })).not.toContain('--sqlite-pragma');
  });

  it('let every processor of the single shard look for tasks without delay', () => {
    const args = devServerArguments({ port: 1, namespace: 'n' });

    for (const processor of ['transfer', 'timer', 'visibility']) {
      expect(args).toContain(`history.${processor}ProcessorMaxPollRPS=2000`);
    }
  });
});
