import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { derivePaymentId, randomPaymentId } from '../../../src/payments/words/derive-payment-id.js';
import { IDENTIFIER_PATTERN } from '../../../src/payments/words/limits.js';
import { parsePaymentId } from '../../../src/payments/words/payment-id.js';

const kinds = fc.constantFrom('collection' as const, 'payout' as const);

describe('a payment id', () => {
  it('always matches the pattern that the provider takes identifiers by', () => {
    fc.assert(
      fc.property(kinds, fc.string(), fc.string(), (kind, owner, key) => {
        expect(derivePaymentId(kind, owner, key)).toMatch(IDENTIFIER_PATTERN);
        expect(randomPaymentId(kind)).toMatch(IDENTIFIER_PATTERN);
      }),
    );
  });

  it('is the same for the same owner and key, and another for any other', () => {
    fc.assert(
      fc.property(kinds, fc.string(), fc.string(), fc.string(), fc.string(), (kind, owner, key, owner2, key2) => {
        const same = owner === owner2 && key === key2;
        expect(derivePaymentId(kind, owner, key) === derivePaymentId(kind, owner2, key2)).toBe(same);
      }),
    );
  });

  it('keeps owner and key apart where they run together', () => {
    expect(derivePaymentId('payout', 'shop', 's1')).not.toBe(derivePaymentId('payout', 'shops', '1'));
    expect(derivePaymentId('payout', '1', '2:x')).not.toBe(derivePaymentId('payout', '1:2', 'x'));
  });

  it('tells its kind by its prefix', () => {
    expect(derivePaymentId('collection', 'a', 'k')).toMatch(/^col_[0-9a-f]{32}$/);
    expect(randomPaymentId('payout')).toMatch(/^pay_[0-9a-f]{32}$/);
  });

  it.each(['', 'col_', 'abc', 'ref_1', 'col_ä', 'col_1 ', `col_${'1'.repeat(97)}`, 7, null, undefined, {}])(
    'is not read out of %p',
    (text) => {
      expect(parsePaymentId(text)).toBeUndefined();
    },
  );

  it('is read back from its own text', () => {
    const id = randomPaymentId('collection');
    expect(parsePaymentId(id)).toBe(id);
  });
});
