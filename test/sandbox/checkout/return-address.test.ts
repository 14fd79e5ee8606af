import { describe, expect, it } from '@jest/globals';
import { returnAddress } from '../../../sandbox/checkout/return-address.js';

const transaction = { transId: 'T1', status: 'SUCCESSFUL' };

describe('the address that a payer returns to', () => {
  it('tells the merchant the transaction and its status', () => {
    expect(returnAddress('https://shop.example/thanks', transaction)).toBe(
      'https://shop.example/thanks?transId=T1&status=SUCCESSFUL',
    );
  });

  it('keeps the parameters and the fragment that it has', () => {
    expect(returnAddress('https://shop.example/?order=7#end', transaction)).toBe(
      'https://shop.example/?order=7&transId=T1&status=SUCCESSFUL#end',
    );
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'shop:thanks', 'not an address'])(
    'is none for %s',
    (redirectUrl) => {
      expect(returnAddress(redirectUrl, transaction)).toBeUndefined();
    },
  );

  it('is none where the merchant gave none', () => {
    expect(returnAddress(undefined, transaction)).toBeUndefined();
  });
});
