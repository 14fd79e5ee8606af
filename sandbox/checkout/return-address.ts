/**
 * Where a payer goes once the payment is made: the merchant's `redirectUrl`, with the transaction's id and status
 * added as the query parameters `transId` and `status`, and its own parameters kept. The provider doesn't say whether
 * it adds any; these two are this sandbox's choice. They are a courtesy to the merchant's page and no proof of payment.
 *
 * @returns undefined when there is no address, or one that isn't http(s): `javascript:` and its like are not followed.
 */
export const returnAddress = (
  redirectUrl: string | undefined,
  transaction: { readonly transId: string; readonly status: string },
): string | undefined => {
  if (redirectUrl === undefined || !URL.canParse(redirectUrl)) return undefined;
  const address = new URL(redirectUrl);
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return undefined;
  address.searchParams.set('transId', transaction.transId);
  address.searchParams.set('status', transaction.status);
  return address.href;
};
