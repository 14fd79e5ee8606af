import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentRejectedError, Sanaga } from '../../client/index.js';
import { eventually } from '../support/eventually.js';
import { commandsOf } from '../support/runbook.js';
import { Shell } from '../support/shell.js';
import { type RunningStart, runStart } from './running-start.js';

/*
 * What the runbook lists after a bad day, by its own commands: nobody may pay again what was stopped on purpose, or
 * overlook what a stolen key has done. test/containers/runbook.check.ts runs the commands of docker-compose.
 */

let base: string;
let start: RunningStart;
let shell: Shell;
let merchant: Sanaga;
let approver: Sanaga;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'sanaga-runbook-'));
  start = await runStart(base, { SANDBOX_BALANCE: '10000' });
  merchant = new Sanaga({ baseUrl: start.apiUrl, apiKey: start.secrets.apiKey });
  approver = new Sanaga({ baseUrl: start.apiUrl, apiKey: start.secrets.approverKey ?? '' });
  shell = new Shell(start.folder, start.env, base);
  await follow(commandsOf(/^export SANAGA_URL/).replace('sk_…', start.secrets.apiKey));
});
afterAll(async () => {
  await shell?.close();
  await start?.stop();
  await rm(base, { recursive: true, force: true });
});

/** Runs commands to their end, with these values in the place of the page's. @throws Error when one fails */
async function follow(commands: string, values: Readonly<Record<string, string>> = {}): Promise<string> {
  const filled = Object.entries(values).reduce(
    (text, [name, value]) => {
      const example = new RegExp(`\\b${name}=('[^']*'|\\S+)`);
      expect(text).toMatch(example);
      return text.replace(example, `${name}='${value}'`);
    },
    start.withPorts(commands, 0),
  );
  const { failures, stdout, stderr } = await shell.run(filled);
  if (failures.length > 0 || stderr !== '') throw new Error(`${failures.join('\n')}\n${stdout}\n${stderr}`);
  return stdout;
}

const DAY_MS = 24 * 3_600_000;

interface Order {
  readonly externalId: string;
  readonly amount: number;
  readonly approval?: true;
  readonly sendAt?: string;
}

/** Orders a payout, which the provider may refuse at once. @returns its id */
async function order(idempotencyKey: string, fields: Order & { readonly phone?: string }): Promise<string> {
  try {
    return (await merchant.payouts.create({ phone: '677000000', ...fields }, { idempotencyKey })).id;
  } catch (error) {
    if (error instanceof PaymentRejectedError && error.payment !== undefined) return error.payment.id;
    throw error;
  }
}

/** Waits until lists have the reasons why these have failed. */
const recorded = (ids: readonly string[]) =>
  eventually(
    async () => (await merchant.payments.list({ status: 'FAILED', limit: 100 })).data,
    (failed) => ids.every((one) => failed.some(({ id, failureCode }) => id === one && failureCode !== undefined)),
    300_000,
  );

describe('the runbook', () => {
  it('lists what an empty account has refused, and nothing that was stopped or failed otherwise', async () => {
    const refused = await order('wage-1', { externalId: 'wage-1', amount: 20_000 });
    const failed = await order('wage-2', { externalId: 'wage-2', amount: 200, phone: '677000100' });
    const withdrawn = await order('wage-3', { externalId: 'wage-3', amount: 20_000, approval: true });
    await merchant.payouts.cancel(withdrawn);
    const rejected = await order('wage-4', { externalId: 'wage-4', amount: 20_000, approval: true });
    await approver.payouts.reject(rejected, { why: 'twice on the list' });
    const dated = await order('wage-5', {
      externalId: 'wage-5',
      amount: 20_000,
      sendAt: new Date(Date.now() + 2_000).toISOString(),
    });
    const repeated = await order('wage-6', { externalId: 'wage-6', amount: 20_000 });
    const again = await order('wage-6-again', { externalId: 'wage-6', amount: 300 });
    const twice = [
      await order('wage-8', { externalId: 'wage-8', amount: 20_000 }),
      await order('wage-8-again', { externalId: 'wage-8', amount: 20_000 }),
    ];
    await merchant.payments.retrieve(again, { wait: 60 });
    await recorded([refused, failed, withdrawn, rejected, dated, repeated, ...twice]);

    const lines = await follow(commandsOf(/WORDS=/), {
      FROM: new Date(Date.now() - 3_600_000).toISOString(),
      CREATED: new Date(Date.now() - DAY_MS).toISOString(),
    });
    const rows = lines
      .trim()
      .split('\n')
      .map((line) => line.split(',').map((cell) => cell.replaceAll('"', '')));
    expect(rows.map(([, id, externalId, , , , others]) => [externalId, id, others]).sort()).toEqual(
      [
        ['wage-1', refused, ''],
        ['wage-5', dated, ''],
        ['wage-6', repeated, `${again} SUCCESSFUL`],
        // Neither is to be ordered again without a look at the other.
        ...twice.map((id) => ['wage-8', id, `${twice.find((other) => other !== id)} FAILED`]),
      ].sort(),
    );
  }, 600_000);

  it('shows all that a person has approved, rejected and decided, whatever came later', async () => {
    const approved = await order('wage-7', { externalId: 'wage-7', amount: 400, approval: true });
    const { held } = await merchant.payments.retrieve(approved);
    await approver.payouts.approve(approved, { digest: held?.digest ?? '' });
    await merchant.payments.retrieve(approved, { wait: 30 });
    const lines = await follow(commandsOf(/PERSON=/), {
      PERSON: 'accountant',
      SINCE: new Date(Date.now() - DAY_MS).toISOString(),
    });
    expect(lines).toContain(`${approved}\taccountant approved the payout.`);
    expect(lines).toMatch(/accountant rejected the payout before it was sent: twice on the list\./);
    expect(lines).not.toContain('not read');
  });

  it('refreshes all that is open, with the status of each answer', async () => {
    const { id } = await merchant.collections.create(
      { method: 'link', amount: 5000, externalId: 'order-9' },
      { idempotencyKey: 'order-9' },
    );
    const printed = await eventually(
      () => follow(commandsOf(/--final false .* \| refresh/)),
      (lines) => lines.includes(id),
    );
    expect(printed).toContain(`${id} 200`);
  });

  it('does nothing while a name that it needs is not set', async () => {
    for (const block of [/payouts\/\$\{ID:\?\}\/cancel/, /LEAKED=/, /ALTER ROLE temporal/]) {
      const commands = commandsOf(block).replace(/^(ID|LEAKED)=.*$/m, '$1=');
      const { stdout, stderr } = await shell.run(`(\n${commands}\n)`);
      expect([stdout, stderr]).toEqual(['', expect.stringMatching(/(ID|LEAKED|NEW): parameter null or not set/)]);
    }
  });
});
