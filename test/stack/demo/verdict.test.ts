import { describe, expect, it } from '@jest/globals';
import { verdictOf } from '../../../stack/demo/verdict.js';
import { row } from './rows.js';

describe('the verdict', () => {
  it('is good when every payment ended as its scenario says', () => {
    expect(verdictOf([row(), row()], [], 16_240)).toEqual({
      ok: true,
      problems: [],
      summary: "all 2 payments ended as their scenario says, and the provider's ledger agrees (16.2 s)",
    });
  });

  it('is bad when one did not, and says which', () => {
    const verdict = verdictOf([row(), row({ problems: ['FAILED in place of SUCCESSFUL'] })], [], 1_000);
    expect(verdict).toEqual({
      ok: false,
      problems: ['link, paid: FAILED in place of SUCCESSFUL'],
      summary: '1 of 2 payments ended as their scenario says (1.0 s)',
    });
  });

  it('is bad when the provider moved money that nobody asked for', () => {
    expect(verdictOf([row()], ['a stray'], 0)).toMatchObject({ ok: false, problems: ['a stray'] });
  });

  it('is bad when a payment has not come to its end', () => {
    expect(verdictOf([row({ done: false })], [], 0).ok).toBe(false);
  });
});
