import { describe, expect, it } from '@jest/globals';
import { resultOf } from '../../../stack/demo/run-scenario.js';
import { demoView, jsonOf, paymentTable, type TableLook } from '../../../stack/demo/view.js';
import { payment, row, scenario } from './sample-rows.js';

/** Plays a payment from its creation to its end, and gives what was written. */
function runView(json: boolean) {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') => ({
    write(text: string | Uint8Array) {
      written[name] += String(text);
      return true;
    },
  });
  const view = demoView(json, { stdout: into('stdout'), stderr: into('stderr') });
  const created = row({ payment: { ...payment, status: 'CREATED', final: false }, done: false });
  const { payment: _, ms: __, ...nothing } = created;
  for (const step of [created, created, row({ done: false }), row()]) view.show([step], step);
  const failed = { ...nothing, done: true, problems: ['the API answered 503'] };
  view.show([failed], failed);
  view.finish([row()], resultOf([row()], [], 1_000));
  return written;
}

describe('the demo with --json', () => {
  it('writes one JSON object a payment, once it has ended, and nothing else', () => {
    const lines = runView(true).stdout.split('\n');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: 'col_1', status: 'SUCCESSFUL', events: 17 });
  });

  it('keeps its progress and its result to stderr', () => {
    const { stderr } = runView(true);
    expect(stderr).toContain('link, paid: CREATED');
    expect(stderr).toContain('not created (the API answered 503)');
    expect(stderr).toContain('demo: all 1 payments ended');
  });
});

describe('the demo without a terminal', () => {
  it('writes each status once, then the table and the result, without a single escape', () => {
    const { stdout, stderr } = runView(false);
    expect(stdout.match(/link, paid: CREATED/g)).toHaveLength(1);
    expect(stdout.match(/link, paid: SUCCESSFUL, final/g)).toHaveLength(1);
    expect(stdout).toContain(payment.temporalUrl);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^demo: all 1 payments ended/);
    expect(stdout).not.toContain('\u001b');
    expect(stderr).toBe('');
  });
});

const look: TableLook = { width: 200, color: false, address: 'full' };
const ESCAPE = '\u001b';

describe('the table of payments', () => {
  it('shows a payment in one line, its address in full', () => {
    const [head = '', line = ''] = paymentTable([row()], look).split('\n');
    expect(head.split(/ {2,}/)).toEqual([
      ...['Payment', 'Kind', 'Method', 'XAF', 'Status', 'Final', 'ms', 'Events', 'Web UI'],
    ]);
    expect(line.split(/ {2,}/)).toEqual([
      ...['link, paid', 'collection', 'link', '5,000', 'SUCCESSFUL', 'yes', '1,234', '17'],
      payment.temporalUrl,
    ]);
  });

  it('has a line for a payment that has not been created', () => {
    expect(paymentTable([{ scenario, done: false, problems: [] }], look)).toContain('link, paid');
  });

  it.each([80, 90, 100, 110, 120, 140])('fits into %i columns, with its status and time', (width) => {
    const rows = [row({ scenario: { ...scenario, name: 'payout to an account that succeeds' } })];
    const [head = '', line = ''] = paymentTable(rows, { ...look, width, address: 'link' }).split('\n');
    expect(head.length).toBeLessThanOrEqual(width);
    expect(line).toContain('payout to an account that succeeds');
    expect(line).toContain('SUCCESSFUL');
    expect(line).toContain('1,234');
  });

  it('leaves out the link before anything else', () => {
    const head = (width: number) => paymentTable([row()], { ...look, width, address: 'link' }).split('\n')[0];
    expect(head(125)).toContain('Web UI');
    expect(head(105)).not.toContain('Web UI');
    expect(head(105)).toContain('Method');
  });

  it('makes the address a link of the terminal', () => {
    expect(paymentTable([row()], { ...look, address: 'link' })).toContain(`]8;;${payment.temporalUrl}`);
  });

  it('has colours only where they are wanted', () => {
    expect(paymentTable([row()], look)).not.toContain(ESCAPE);
    expect(paymentTable([row()], { ...look, color: true })).toContain(`${ESCAPE}[32mSUCCESSFUL${ESCAPE}[39m`);
    const wrong = row({ problems: ['FAILED instead of SUCCESSFUL'] });
    expect(paymentTable([wrong], { ...look, color: true })).toContain(`${ESCAPE}[31mSUCCESSFUL`);
  });
});

describe("a payment's JSON line", () => {
  it('has exactly these fields, in this order', () => {
    expect(jsonOf(row())).toBe(
      '{"id":"col_1","kind":"collection","method":"link","status":"SUCCESSFUL","final":true,"ms":1234,' +
        '"events":17,"url":"http://127.0.0.1:8233/namespaces/default/workflows/col_1"}',
    );
  });

  it('has null for what is not known, and for the method of a payout', () => {
    const { method: _, temporalUrl: __, ...rest } = payment;
    const unfinished = { ...rest, kind: 'payout', status: 'PENDING', final: false } as const;
    expect(JSON.parse(jsonOf({ scenario, payment: unfinished, done: false, problems: [] }) ?? '')).toEqual({
      id: 'col_1',
      kind: 'payout',
      method: null,
      status: 'PENDING',
      final: false,
      ms: null,
      events: null,
      url: null,
    });
  });

  it('is none for a payment that the API never answered', () => {
    expect(jsonOf({ scenario, done: true, problems: ['503'] })).toBeUndefined();
  });
});
