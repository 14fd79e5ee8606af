import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const SANDBOX = 'http://sandbox:4000';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-example-passwords-'));
  await writeFile(join(folder, 'psql'), '#!/bin/sh\necho asked\n', { mode: 0o755 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Settings {
  readonly postgres?: string;
  readonly book?: string;
  readonly backup?: string;
  readonly monitoring?: string;
  readonly collections?: string;
  readonly payouts?: string;
}

/** What becomes of deploy/book-database.sh, for which every container of ours waits. */
async function start({ collections = SANDBOX, payouts = SANDBOX, ...passwords }: Settings) {
  const { postgres = 'own0', book = 'own1', backup = 'own2', monitoring = 'own3' } = passwords;
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    ...{ PGPASSWORD: postgres, BOOK_PASSWORD: book, BACKUP_PASSWORD: backup, MONITORING_PASSWORD: monitoring },
    ...{ PROVIDER_COLLECTION_URL: collections, PROVIDER_PAYOUT_URL: payouts },
  };
  return await new Promise<{ readonly code: unknown; readonly printed: string }>((resolve) => {
    execFile('sh', ['deploy/book-database.sh'], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, printed: stdout + stderr }),
    );
  });
}

const example = {
  ...{ postgres: 'example0password', book: 'example1password' },
  ...{ backup: 'example2password', monitoring: 'example3password' },
};
const refused = {
  code: 78,
  printed: expect.stringMatching(/^POSTGRES_PASSWORD, BOOK_PASSWORD, BACKUP_PASSWORD or/),
};
const taken = { code: 0, printed: 'asked\n' };

describe("the databases' passwords of .env.example", () => {
  it.each([SANDBOX, 'http://sandbox', 'http://sandbox/'])('are taken with the sandbox, at %s', async (url) => {
    expect(await start({ ...example, collections: url, payouts: url })).toEqual(taken);
  });

  it.each(['https://api.provider.example', 'http://sandbox.example', 'http://sandbox-1:4000', 'https://momo', ''])(
    'are refused with a provider at %j, for either service',
    async (url) => {
      for (const where of [{ collections: url }, { payouts: url }]) {
        expect(await start({ ...where, postgres: example.postgres })).toEqual(refused);
        expect(await start({ ...where, book: example.book })).toEqual(refused);
        expect(await start({ ...where, backup: example.backup })).toEqual(refused);
        expect(await start({ ...where, monitoring: example.monitoring })).toEqual(refused);
        expect(await start({ ...where, postgres: 'example1password' })).toEqual(refused);
        expect(await start(where)).toEqual(taken);
      }
    },
  );
});
