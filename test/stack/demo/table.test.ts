import { describe, expect, it } from '@jest/globals';
import { paymentTable, type TableLook } from '../../../stack/demo/table.js';
import { payment, row, scenario } from './rows.js';

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

  it('has a line for a payment that has not begun', () => {
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
    const wrong = row({ problems: ['FAILED in place of SUCCESSFUL'] });
    expect(paymentTable([wrong], { ...look, color: true })).toContain(`${ESCAPE}[31mSUCCESSFUL`);
  });
});
