import { describe, expect, it } from '@jest/globals';
import { jsonOf } from '../../../stack/demo/row.js';
import { payment, row, scenario } from './rows.js';

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
