import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { KeptForms } from '../../../sandbox/checkout/kept-forms.js';
import { noErrors } from '../../../sandbox/checkout/payment-form.js';

const MINUTE = 60_000;
const form = (phone: string) => ({ values: { phone, medium: '', email: '' }, errors: noErrors });

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a form that was sent', () => {
  it('is kept for 15 minutes, for its own link', () => {
    const forms = new KeptForms();
    const key = forms.keep('link', form('677'));
    jest.advanceTimersByTime(15 * MINUTE - 1);
    expect(forms.find('link', key)).toMatchObject(form('677'));
    expect(forms.find('other', key)).toBeUndefined();
    jest.advanceTimersByTime(1);
    expect(forms.find('link', key)).toBeUndefined();
  });

  it('has a key that cannot be guessed', () => {
    const forms = new KeptForms();
    const keys = [1, 2, 3].map(() => forms.keep('link', form('677')));
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key).toMatch(/^[\w-]{22}$/);
  });

  it('gives way to the newest once there are a thousand', () => {
    const forms = new KeptForms();
    const keys = Array.from({ length: 1001 }, (_, index) => forms.keep('link', form(String(index))));
    expect(forms.find('link', keys[0] ?? '')).toBeUndefined();
    expect(forms.find('link', keys[1] ?? '')).toMatchObject(form('1'));
    expect(forms.find('link', keys[1000] ?? '')).toMatchObject(form('1000'));
    expect(jest.getTimerCount()).toBe(1000);
  });
});
