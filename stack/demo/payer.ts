import got from 'got';

const CALL_LIMIT_MS = 10_000;

/**
 * Does what a payer does at the checkout page, as their browser would: opens the link, fills in the form, presses a
 * button and follows the redirect.
 *
 * @throws Error when the page has no such form, or refuses what is entered.
 */
export async function atCheckout(
  link: string,
  entry: { readonly action: 'pay'; readonly phone: string } | { readonly action: 'decline' },
): Promise<void> {
  const browser = got.extend({
    throwHttpErrors: false,
    retry: { limit: 0 },
    timeout: { request: CALL_LIMIT_MS },
  });
  const page = await browser.get(link);
  if (page.statusCode !== 200) throw new Error(`the checkout page answered ${page.statusCode}`);
  const names = fieldsOf(page.body);
  const button = `name="action" value="${entry.action}"`;
  if (names === undefined || !page.body.includes(button)) {
    throw new Error(`the checkout page has no form to ${entry.action} with`);
  }

  const phone = entry.action === 'pay' ? entry.phone : '';
  const form = Object.fromEntries(names.map((name) => [name, name === 'phone' ? phone : '']));
  const answer = await browser.post(link, { form: { ...form, action: entry.action } });
  if (answer.statusCode !== 200) throw new Error(`the checkout page answered the form with ${answer.statusCode}`);
}

/** The field names of the page's form; `undefined` when there is no form to post. */
function fieldsOf(page: string): string[] | undefined {
  const form = /<form method="post"[^>]*>(.*?)<\/form>/s.exec(page)?.[1];
  if (form === undefined) return undefined;
  const names = [...form.matchAll(/<input [^>]*?name="([^"]+)"/gs)].map(([, name = '']) => name);
  return [...new Set(names)];
}
