import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type Ended, machine, runToEnd } from '../support/built.js';

const lineSchema = z.strictObject({
  id: z.string().regex(/^(col|pay)_/),
  kind: z.enum(['collection', 'payout']),
  method: z.enum(['link', 'direct']).nullable(),
  status: z.enum(['SUCCESSFUL', 'FAILED', 'EXPIRED']),
  final: z.literal(true),
  ms: z.int().positive(),
  events: z.int().positive(),
  url: z.url(),
});

describe('demo --json', () => {
  let folder: string;
  let ended: Ended;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-e2e-'));
    ended = await runToEnd('build/cli/main.js', ['demo', '--json'], { ...machine(), TMPDIR: folder }, folder);
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('ends with exit code 0, and says so on stderr', () => {
    expect(ended.stderr).toMatch(/demo: all 12 payments ended as their scenario says/);
    expect(ended.code).toBe(0);
  });

  it('prints one JSON object a payment a line, and nothing else', () => {
    const lines = ended.stdout.trimEnd().split('\n');
    const payments = lines.map((line) => lineSchema.parse(JSON.parse(line)));
    const outcomes = payments.map(({ kind, method, status }) => `${kind} ${method} ${status}`);
    expect(outcomes.sort()).toEqual([
      'collection direct FAILED',
      'collection direct SUCCESSFUL',
      'collection link EXPIRED',
      'collection link EXPIRED',
      'collection link SUCCESSFUL',
      'collection link SUCCESSFUL',
      'collection link SUCCESSFUL',
      'payout null FAILED',
      'payout null FAILED',
      'payout null SUCCESSFUL',
      'payout null SUCCESSFUL',
      'payout null SUCCESSFUL',
    ]);
    for (const { id, method, url } of payments) {
      expect(url).toMatch(new RegExp(`/workflows/${id}$`));
      expect(id.startsWith('pay_')).toBe(method === null);
    }
  });

  it('leaves nothing behind', async () => {
    expect(existsSync(join(folder, '.sanaga'))).toBe(false);
    expect((await readdir(folder)).filter((name) => name.startsWith('sanaga-'))).toEqual([]);
  });
});
