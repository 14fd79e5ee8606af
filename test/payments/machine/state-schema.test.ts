import { describe, expect, it } from '@jest/globals';
import { MACHINE } from '../../../lab/explore/machine.js';
import { walkAll } from '../../../lab/explore/walks.js';
import { step } from '../../../src/payments/machine/machine.js';
import { stateSchemas } from '../../../src/payments/machine/state-schema.js';
import { openPayment, type PaymentState } from '../../../src/payments/words/payment-state.js';
import { orders, START, terms } from '../../support/orders.js';

const { state: schema } = stateSchemas();
const kept = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("the schema of a payment's state", () => {
  it('reads every state that a payment comes to, and changes nothing in it', () => {
    const phases = new Set<string>();
    const unread: unknown[] = [];
    const machine = {
      ...MACHINE,
      step(payment: PaymentState, ...given: [Parameters<typeof step>[1], number]) {
        const after = step(payment, ...given);
        const stored = kept(after.payment);
        const read = schema.safeParse(stored);
        phases.add(after.payment.phase.kind);
        if (!read.success) unread.push(read.error.issues);
        else expect(read.data).toEqual(stored);
        return after;
      },
    };
    walkAll(machine, { walks: 200, seed: 35 }, () => undefined);
    expect(unread).toEqual([]);
    expect([...phases].sort()).toEqual(
      [
        'held',
        'sending',
        'waiting',
        'searching',
        'following',
        'closing',
        'verifying',
        'review',
        'deciding',
        'ended',
      ].sort(),
    );
  });

  it.each(orders)('keeps a field that only another version knows, and says where one is wrong', (order) => {
    const stored = kept(openPayment(order, terms, START)) as PaymentState;
    expect(schema.parse({ ...stored, later: { than: 'today' } })).toMatchObject({ later: { than: 'today' } });
    const read = schema.safeParse({ ...stored, sends: { ...stored.sends, count: -1 } });
    expect(read.error?.issues).toMatchObject([{ path: ['sends', 'count'] }]);
  });
});
