const MOBILE_NUMBER = /^(?:\+?237)?(6\d{8})$/;

/**
 * A Cameroonian mobile number as the provider takes it: nine digits beginning with 6. Spaces and dashes are left out,
 * and the country's prefix, with or without its plus. `undefined` when it is no such number.
 *
 * @example readPhoneNumber('+237 6 77-00-00-00') // '677000000'
 */
export function readPhoneNumber(text: string): string | undefined {
  return MOBILE_NUMBER.exec(text.replace(/[\s-]/g, ''))?.[1];
}
