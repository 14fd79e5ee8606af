import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PaymentAnswer } from '../../stack/demo/merchant.js';
import { eventually } from '../support/eventually.js';
import { allHealthy, asRoot, compose, inside, inTree, TREE } from './compose.js';
import { begin, create, ends, endWell, transactionsOf } from './merchant.js';

const FOLDER = join(dirname(TREE), 'small-disk');
const OVERRIDE = inTree('docker-compose.override.yml');
const FILLER = '/var/lib/postgresql/data/filler';

describe("when PostgreSQL's disk is full", () => {
  beforeAll(async () => {
    await compose('down', '--volumes');
    await mkdir(FOLDER, { recursive: true });
    await asRoot('mount', '-t', 'tmpfs', '-o', 'size=1500m,mode=700', 'small', FOLDER);
    const driver_opts = { type: 'none', device: FOLDER, o: 'bind' };
    await writeFile(OVERRIDE, JSON.stringify({ volumes: { postgres: { driver_opts } } }));
    await compose('up', '-d');
  }, 900_000);
  afterAll(async () => {
    await compose('down', '--volumes');
    await asRoot('umount', FOLDER);
    await rm(OVERRIDE);
    await compose('up', '-d');
  }, 900_000);

  it('payments are refused, none that was accepted is lost, and all goes on once there is room', async () => {
    const begun = await begin();
    await expect(inside('postgres', 'dd', 'if=/dev/zero', `of=${FILLER}`, 'bs=1M')).rejects.toThrow('No space left');
    // What fits into the files that there are is taken still.
    const accepted: PaymentAnswer[] = [];
    const isRefused = () =>
      create('/v1/payouts', { amount: 500, phone: '677000000' }).then(
        (payment) => {
          accepted.push(payment);
          return false;
        },
        ({ message }: Error) => /50[03]/.test(message),
      );
    await eventually(isRefused, (refused) => refused);
    await asRoot('rm', join(FOLDER, 'filler'));
    await allHealthy();
    await endWell(begun);
    for (const payment of accepted) {
      expect(await ends(payment)).toMatchObject({ status: 'SUCCESSFUL' });
      expect(await transactionsOf(payment.id)).toHaveLength(1);
    }
    await endWell(await begin());
  });
});
