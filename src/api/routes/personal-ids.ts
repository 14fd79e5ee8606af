import { invalidRequest } from '../../http/problem.js';
import type { PaymentOrder } from '../../payments/words/order.js';

/**
 * Rejects identifiers that contain the payer's or the recipient's phone number, name or e-mail address. Payments can be
 * searched for by identifiers, so these are the one part of an order that isn't encrypted in Temporal. A link's payer
 * isn't known: an identifier that can only be somebody's number is refused, too.
 *
 * @throws {ApiError} `invalid_request` with an error for each identifier that has one of them.
 */
export function refusePersonalIds(order: PaymentOrder): void {
  const { phone = '', name = '' } = order.kind === 'link' ? { phone: order.refundTo } : order;
  const { email = '' } = order;
  const [mailbox = ''] = email.split('@');
  const isPhone = (id: string) => (phone !== '' && id.includes(phone)) || MOBILE_NUMBER.test(id);
  // Nothing may be left of an address in another script than Latin.
  const address = lettersAndDigits(email);
  const isEmail = (id: string) =>
    id !== '' && (id === lettersAndDigits(mailbox) || (address !== '' && id.includes(address)));
  const isName = (id: string) => lettersAndDigits(name) !== '' && id === lettersAndDigits(name);
  const errors = (['externalId', 'userId'] as const).flatMap((field) => {
    const id = lettersAndDigits(order[field] ?? '');
    const what = isPhone(id) ? 'phone number' : isEmail(id) ? 'e-mail address' : isName(id) ? 'name' : undefined;
    const message = `must not be somebody's ${what}: identifiers are stored so that they can be searched for, and everything about a person is encrypted. Send one that says nothing by itself`;
    return what === undefined ? [] : [{ field, message }];
  });
  if (errors.length > 0) throw invalidRequest(errors);
}

/** A mobile number of Cameroon's with its country code; without it, nine digits may be anything. */
const MOBILE_NUMBER = /^(00)?2376\d{8}$/;

/** Keeps only letters and digits, as an identifier may be made of a name or an address. */
function lettersAndDigits(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}
