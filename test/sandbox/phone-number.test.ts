import { describe, expect, it } from '@jest/globals';
import { detectMedium, readPhone } from '../../sandbox/phone-number.js';

describe('detectMedium', () => {
  it.each([
    ['670000000', 'mobile money'],
    ['679999999', 'mobile money'],
    ['650000000', 'mobile money'],
    ['654999999', 'mobile money'],
    ['680000000', 'mobile money'],
    ['684999999', 'mobile money'],
    ['690000000', 'orange money'],
    ['699999999', 'orange money'],
    ['655000000', 'orange money'],
    ['659999999', 'orange money'],
    ['685000000', 'orange money'],
    ['689999999', 'orange money'],
    ['+237677000000', 'mobile money'],
    ['237699000000', 'orange money'],
  ])('takes %s for %s', (phone, medium) => {
    expect(detectMedium(phone)).toBe(medium);
  });

  it.each(['620000000', '660000000', '640000000', '222000000', '67700000', '6770000000', '', 'abc', '677 00 00 00'])(
    'takes %p for none',
    (phone) => {
      expect(detectMedium(phone)).toBeUndefined();
    },
  );
});

describe('readPhone', () => {
  it('prefers the medium that was asked for', () => {
    expect(readPhone('677000000', 'orange money')).toEqual({
      kind: 'read',
      digits: '677000000',
      medium: 'orange money',
    });
  });

  it('takes a mobile number of any range when the medium is given', () => {
    expect(readPhone('+237620000000', 'mobile money')).toMatchObject({ kind: 'read', digits: '620000000' });
  });

  it('reads no number of a range that it does not know without a medium', () => {
    expect(readPhone('620000000')).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('phone'),
    });
  });

  it('reads nothing that is not a mobile number, medium or not', () => {
    expect(readPhone('12345', 'mobile money').kind).toBe('invalid');
  });
});
