import { domainToASCII } from 'node:url';

/** Phone numbers and e-mail addresses, as people write them and in the provider's form. */

/** Characters that people write between digits, or copy with them: spaces, dashes, dots, brackets, invisible marks. */
const BETWEEN_DIGITS = /[\s\p{Cf}\p{Pd}\p{Ps}\p{Pe}./_\u2212\u00b7\u2022]/gu;

/** The longest text that can be a phone number: normalizing a long text of marks takes seconds. */
const MAX_PHONE_LENGTH = 254;

/**
 * The nine digits of a Cameroonian mobile number; `undefined` for anything else.
 *
 * @example nineDigits('(00237) 6 77.00.00.00') // '677000000'
 */
export function nineDigits(text: string): string | undefined {
  if (text.length > MAX_PHONE_LENGTH) return undefined;
  // Full-width digits, and a full-width plus, are compatible with the plain ones.
  const plain = text.normalize('NFKC').replace(/^tel:/i, '').replace(BETWEEN_DIGITS, '');
  return /^(?:(?:\+|00)?237)?(6[0-9]{8})$/.exec(plain)?.[1];
}

/** An address is never longer: RFC 3696, erratum 1690. */
export const MAX_EMAIL_LENGTH = 254;

/** HTML's characters of a mailbox, and the letters that RFC 6531 adds. */
const MAILBOX = /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}$/u;

/** Two labels at least: an address without a dot is a typing error, and not a host in the next room. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * An e-mail address as HTML has it, with the domain in ASCII, as every mail server takes it; `undefined` for anything
 * else.
 *
 * @example readEmail('jane@büro.example') // 'jane@xn--bro-hoa.example'
 */
export function readEmail(text: string): string | undefined {
  const given = text.trim();
  if (given.length > MAX_EMAIL_LENGTH) return undefined;
  const at = given.lastIndexOf('@');
  const [mailbox, domain] = [given.slice(0, at), given.slice(at + 1)];
  // ASCII text stays as it was given.
  const ascii = /^[ -~]*$/.test(domain) ? domain : domainToASCII(domain);
  if (at < 1 || !MAILBOX.test(mailbox) || !DOMAIN.test(ascii)) return undefined;
  const address = `${mailbox}@${ascii}`;
  return address.length > MAX_EMAIL_LENGTH ? undefined : address;
}
