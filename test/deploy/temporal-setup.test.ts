import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { findSetupGaps } from '../../src/temporal/namespace.js';
import { paymentSearchAttributes } from '../../src/temporal/search-attributes.js';
import { RETENTION_DAYS } from '../../src/temporal/setup-gaps.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { findTemporal } from '../../stack/temporal/temporal-cli.js';
import { machine } from '../support/built.js';
import { eventually } from '../support/eventually.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

const path = fileURLToPath(new URL('../../deploy/temporal-setup.sh', import.meta.url));
const script = await readFile(path, 'utf8');

describe('deploy/temporal-setup.sh', () => {
  it('creates the search attributes that payments carry', () => {
    const [, list = ''] = /<<'ATTRIBUTES'\n([\s\S]*?)\nATTRIBUTES/.exec(script) ?? [];
    const needed = Object.values(paymentSearchAttributes).map(({ name }) => `${name} Keyword`);
    expect(list.split('\n').sort()).toEqual(needed.sort());
  });

  it('keeps ended payments as long as an embedded server does', () => {
    expect(script).toContain(`\nretention_days=${RETENTION_DAYS}\n`);
  });

  describe('with a real server', () => {
    let server: DevServer;
    let connection: Connection;
    let folder: string;

    beforeAll(async () => {
      server = await startDevServer({ ui: false, report: () => undefined });
      connection = await Connection.connect({ address: server.address });
      folder = await mkdtemp(join(tmpdir(), 'sanaga-temporal-setup-'));
      const { path: temporal } = await findTemporal({ report: () => undefined });
      await symlink(temporal, join(folder, 'temporal'));
    });
    afterAll(async () => {
      await connection.close();
      await server.stop();
      await rm(folder, { recursive: true });
    });

    async function setUp(namespace: string): Promise<string> {
      const env = {
        ...machine(),
        PATH: [folder, process.env.PATH].join(delimiter),
        TEMPORAL_ADDRESS: server.address,
        TEMPORAL_NAMESPACE: namespace,
      };
      return (await promisify(execFile)('sh', [path], { env })).stdout;
    }

    const retentionOf = async (namespace: string) => {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      return Number(config?.workflowExecutionRetentionTtl?.seconds) / (DAY_MS / 1_000);
    };

    it('makes a namespace in which nothing is missing, and leaves it as it is', async () => {
      expect(await setUp('new')).toContain('namespace new is ready');
      const gaps = () => findSetupGaps(connection, 'new').catch(() => ['not there yet']);
      expect(await eventually(gaps, (found) => found.length === 0)).toEqual([]);
      const again = await setUp('new');
      expect(again).toContain('namespace new is ready');
      expect(again).not.toMatch(/updated|registered|added/i);
    });

    it('leaves its retention to a namespace that is there', async () => {
      const workflowExecutionRetentionPeriod = msToTs(3 * DAY_MS);
      await connection.workflowService.registerNamespace({ namespace: 'kept', workflowExecutionRetentionPeriod });
      await eventually(
        () => retentionOf('kept').catch(() => 0),
        (days) => days === 3,
      );
      expect(await setUp('kept')).toContain('namespace kept is ready');
      expect(await retentionOf('kept')).toBe(3);
    });
  });
});
