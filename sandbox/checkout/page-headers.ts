import { styleHash } from './style.js';

/**
 * The headers of every answer of the checkout: nothing runs, nothing is loaded, framed, stored or told to the next site.
 *
 * Browsers hold `form-action` against each redirect that follows a form, too (Chromium does; Firefox doesn't), and a
 * merchant's address may well redirect again, to `www.` or to https. So a link with an address to return to allows
 * that address's scheme (`http:` takes in `https:`), and a link with none allows only this page.
 *
 * @param returnTo where the merchant wants the payer to go, checked to be http(s)
 */
export const pageHeaders = (returnTo: string | undefined): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src ${styleHash}`,
    `form-action 'self'${returnTo === undefined ? '' : ` ${new URL(returnTo).protocol}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
});
