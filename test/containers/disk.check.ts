import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allHealthy, asRoot, compose, inside, inTree, TREE } from './compose.js';
import { begin, create, endWell } from './merchant.js';

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

  it('no payment is accepted, none is lost, and all goes on once there is room', async () => {
    const begun = await begin();
    await expect(inside('postgres', 'dd', 'if=/dev/zero', `of=${FILLER}`, 'bs=1M')).rejects.toThrow('No space left');
    await expect(create('/v1/payouts', { amount: 500, phone: '677000000' })).rejects.toThrow(/50[03]/);
    await asRoot('rm', join(FOLDER, 'filler'));
    await allHealthy();
    await endWell(begun);
    await endWell(await begin());
  });
});
