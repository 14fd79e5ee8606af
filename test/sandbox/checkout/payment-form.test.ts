import { describe, expect, it } from '@jest/globals';
import { readPayerForm } from '../../../sandbox/checkout/payment-form.js';

describe('the form of a payer', () => {
  it('lets people write a number their way', () => {
    expect(readPayerForm({ action: 'pay', phone: ' (+237) 677-00.00 00 ', medium: '', email: '' })).toMatchObject({
      kind: 'read',
      request: { action: 'pay', phone: '+237677000000', medium: undefined },
      values: { phone: '(+237) 677-00.00 00' },
    });
  });

  it('takes nothing but the decision from a payer who declines', () => {
    const reading = readPayerForm({ action: 'decline', phone: '12', medium: 'gold', email: 'x' });
    expect(reading).toMatchObject({ kind: 'read', request: { action: 'decline' } });
  });

  it.each([undefined, null, 'pay', {}, { action: 'steal' }, { action: ['pay', 'decline'] }])(
    'is wrong without a decision: %j',
    (body) => {
      expect(readPayerForm(body)).toMatchObject({ kind: 'wrong', errors: { form: expect.any(String) } });
    },
  );

  it.each(['', '0', '1.5', 'one'])('is wrong when it withdraws no attempt: %j', (attempt) => {
    expect(readPayerForm({ withdraw: attempt })).toMatchObject({ kind: 'wrong' });
  });

  it('withdraws the attempt that it names', () => {
    expect(readPayerForm({ withdraw: '2' })).toEqual({ kind: 'withdraw', attempt: 2 });
  });

  it('is wrong with a medium that a phone cannot have', () => {
    expect(readPayerForm({ action: 'pay', phone: '677000000', medium: 'platform' })).toMatchObject({
      kind: 'wrong',
      errors: { medium: expect.any(String) },
    });
  });

  it('drops an entry that no person types', () => {
    expect(readPayerForm({ action: 'pay', phone: '6'.repeat(300), medium: [] })).toMatchObject({
      kind: 'read',
      values: { phone: '', medium: '', email: '' },
    });
  });
});
