import got from 'got';

const CALL_LIMIT_MS = 10_000;

/**
 * A payer at the checkout page, as a browser would go about it: opens the link, looks for the form, fills it in,
 * presses a button, and goes where the answer leads.
 *
 * @throws Error when there is no such form, or the page doesn't take it.
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
  if (answer.statusCode !== 200) throw new Error(`the checkout page took the form with ${answer.statusCode}`);
}

/** The names of the fields of the page's form; `undefined` when it has none that is posted. */
function fieldsOf(page: string): string[] | undefined {
  const form = /<form method="post"[^>]*>(.*?)<\/form>/s.exec(page)?.[1];
  if (form === undefined) return undefined;
  const names = [...form.matchAll(/<input [^>]*?name="([^"]+)"/gs)].map(([, name = '']) => name);
  return [...new Set(names)];
}
