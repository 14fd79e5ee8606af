import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { KEYS, merchantsWith, terms } from '../support/api-under-test.js';
import { type DeskUnderTest, startDesk } from '../support/desk-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, useStack } from '../support/payment-stack.js';
import { ID, problem, startStubApi } from '../support/stub-api.js';
import { launchBrowser } from './browser.js';
import { arrive, visit } from './visit.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

const NARROW = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true } as const;
const WIDE = { viewport: { width: 1_280, height: 900 } } as const;
const DARK = { ...WIDE, colorScheme: 'dark' } as const;

const keyField = (page: Page) => page.getByLabel('Your API key');

async function signIn(page: Page, key: string): Promise<void> {
  await keyField(page).fill(key);
  await keyField(page).press('Enter');
  await arrive(page, 'Payments in REVIEW');
}

describe('the pages of the desk', () => {
  /** The worst text that a merchant can write: long, and with nowhere to break a line. */
  const LONG = 'W'.repeat(100);
  let api: Awaited<ReturnType<typeof startStubApi>>;
  let desk: DeskUnderTest;
  beforeAll(async () => {
    api = await startStubApi({ text: LONG });
    desk = await startDesk(api.url);
  });
  afterAll(async () => {
    await desk?.stop();
    await api?.stop();
  });

  const pages: readonly [name: string, path: string][] = [
    ['the queue', '/desk'],
    ['the deliveries', '/desk/deliveries'],
    ['the unmatched notifications', '/desk/unmatched'],
    ['the statements', '/desk/statements'],
    ['the statement of a day', '/desk/statements/2026-11-21'],
    ['a search', `/desk/search?q=${LONG}`],
    ['a payment', `/desk/payments/${ID}`],
    ['a decision', `/desk/payments/${ID}/decide/match?review=3`],
    ['a rejection', `/desk/payments/${ID}/decide/reject?review=3`],
    ['an unknown page', '/desk/nowhere'],
  ];

  /** Further pages that only a form leads to. */
  const later: readonly [name: string, reach: (page: Page) => Promise<void>][] = [
    [
      'a form with mistakes',
      async (page) => {
        await page.goto(`${desk.url}/desk/payments/${ID}/decide/match?review=3`);
        await page.getByLabel("The transaction's id").fill('not one');
        await page.getByLabel('Why').fill(LONG);
        await page.getByRole('button', { name: 'Go on' }).click();
        await page.getByText('has no spaces').first().waitFor();
      },
    ],
    [
      'a confirmation that can be overruled',
      async (page) => {
        await page.goto(`${desk.url}/desk/payments/${ID}/decide/resend?review=3`);
        await page.getByLabel('Why').fill(LONG);
        await page.getByRole('button', { name: 'Go on' }).click();
        const detail = `${LONG}, or override this with "force": ["too_early"]`;
        const body = { ...problem(409, 'resolution_refused', detail), force: ['too_early'] };
        api.instead.set('/resolve', { status: 409, body });
        await page.getByRole('button', { name: 'once more' }).click();
        await page.getByLabel('Type the word').waitFor();
        api.instead.clear();
      },
    ],
    [
      'the payouts to approve',
      async (page) => {
        api.instead.set(`/v1/payments/${ID}`, { status: 200, body: { ...api.known.held, orderedBy: LONG.slice(1) } });
        await page.goto(`${desk.url}/desk/approvals`);
        await page.getByText('Reject it').click();
        await page.getByLabel('Why').waitFor();
      },
    ],
    [
      'a payout that was not approved',
      async (page) => {
        await page.getByLabel('Repeat the amount').fill('1');
        await page.getByRole('button', { name: 'Approve' }).click();
        await page.getByText('You typed 1, and the payout is of').waitFor();
        await page.getByText('Reject it').click();
        await page.getByLabel('Why').waitFor();
      },
    ],
    [
      'a held payout',
      async (page) => {
        await page.goto(`${desk.url}/desk/payments/${ID}`);
        await page.getByText('Waits before it is sent').waitFor();
        api.instead.clear();
      },
    ],
    [
      'a day without a statement',
      async (page) => {
        const body = problem(404, 'not_found', LONG);
        api.instead.set('/v1/statements/2025-11-20', { status: 404, body });
        await page.goto(`${desk.url}/desk/statements/2025-11-20`);
        await page.getByRole('button', { name: 'Make it now' }).waitFor();
      },
    ],
    [
      'a statement that is being made',
      async (page) => {
        await page.getByRole('button', { name: 'Make it now' }).click();
        await page.getByRole('link', { name: 'Look again' }).waitFor();
        api.instead.clear();
      },
    ],
    [
      'a day that no statement can be made of',
      async (page) => {
        await page.goto(`${desk.url}/desk/statements`);
        // No browser lets a person choose it.
        await page.getByLabel('Make the statement of a day').evaluate((field) => field.removeAttribute('max'));
        await page.getByLabel('Make the statement of a day').fill('2126-11-20');
        await page.getByRole('button', { name: 'Make it' }).click();
        await page.getByText('has not begun in Douala').waitFor();
      },
    ],
    [
      'the sign-in page',
      async (page) => {
        await page.context().clearCookies();
        await page.goto(`${desk.url}/desk`);
        await keyField(page).waitFor();
      },
    ],
  ];

  /** Each page in one browser, one after the other. */
  async function onEach(
    options: BrowserContextOptions,
    look: (page: Page, name: string) => Promise<void>,
  ): Promise<readonly string[]> {
    const { page, complaints } = await visit(browser, `${desk.url}/desk`, options);
    await signIn(page, api.operatorKey());
    for (const [name, path] of pages) {
      await page.goto(desk.url + path);
      await look(page, name);
    }
    for (const [name, reach] of later) {
      await reach(page);
      await look(page, name);
    }
    return complaints;
  }

  it.each([
    ['320 pixels wide', NARROW],
    ['on a desktop', WIDE],
  ])('have nothing beyond their edge, and need no script: %s', async (_, options) => {
    const beyond: string[] = [];
    const complaints = await onEach(options, async (page, name) => {
      const width = await page.locator('html').evaluate((root) => root.scrollWidth);
      if (width > options.viewport.width) beyond.push(`${name}: ${width}`);
    });
    expect(beyond).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('have only targets of 44 pixels and more for a thumb, where a tap does something', async () => {
    const small: string[] = [];
    await onEach(NARROW, async (page, name) => {
      for (const target of await page
        .locator('button, input:not([type=hidden]), select, textarea, a.button, nav a')
        .all()) {
        const box = await target.boundingBox();
        if (box === null || Math.min(box.width, box.height) < 44) small.push(`${name}: ${await target.textContent()}`);
      }
    });
    expect(small).toEqual([]);
  });

  it('are looked at by an axe that finds what is wrong', async () => {
    const { page } = await visit(browser, `${desk.url}/desk/sign-in`, { javaScriptEnabled: true });
    await page.setContent('<main><h1>Sign in</h1><input name="key"></main>');
    expect((await violationsOf(page)).join()).toContain('label');
  });

  it.each([
    ['in light', WIDE],
    ['in the dark', DARK],
    ['320 pixels wide', NARROW],
  ])('have nothing that axe finds fault with: %s', async (_, options) => {
    const found: string[] = [];
    // axe is a script, and so needs them on.
    await onEach({ ...options, javaScriptEnabled: true }, async (page, name) => {
      for (const violation of await violationsOf(page)) found.push(`${name}: ${violation}`);
    });
    expect(found).toEqual([]);
  });
});

/** Returns axe's findings, as `rule: elements`. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<readonly string[]>(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
  );
}

describe('the desk by keyboard alone, with scripts off', () => {
  const stack = useStack();
  let desk: DeskUnderTest;
  beforeAll(async () => {
    // On a busy machine, too, a decision has its answer before the API would say 202.
    const patient = await stack.startMore({ answerWithinMs: 20_000 });
    desk = await startDesk(patient.url);
  });
  afterAll(() => desk?.stop());

  /** A payout of 700 XAF of which nobody knows whether the provider took it, in the queue of the desk. */
  async function reviewed(): Promise<string> {
    const api = await stack.startMore({
      terms: { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 },
      answerWithinMs: HASTY_MS,
    });
    const id = await stack.doubtfulPayout(api);
    await eventually(
      () => stack.api.ask('GET', '/v1/payments?status=REVIEW', { key: KEYS.operator }),
      (list) => list.body.data.some((one: { id: string }) => one.id === id),
    );
    return id;
  }

  /** Presses Tab until something has the focus, and sees that it shows. @throws when it never gets it */
  async function tabTo(page: Page, wanted: Locator): Promise<void> {
    for (let presses = 0; presses < 80; presses++) {
      if ((await wanted.and(page.locator(':focus')).count()) === 1) {
        const outline = await wanted.evaluate(
          (element) => element.ownerDocument.defaultView?.getComputedStyle(element).outlineStyle,
        );
        expect(outline).toBe('solid');
        return;
      }
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab never leads to ${wanted}`);
  }

  it.each([
    ['320 pixels wide', NARROW],
    ['on a desktop', WIDE],
  ])(
    'signs in, reads a payment, decides it with a reason and a confirmation, and signs out: %s',
    async (_, options) => {
      const id = await reviewed();
      const { page, complaints } = await visit(browser, `${desk.url}/desk`, options);
      await keyField(page).and(page.locator(':focus')).waitFor();
      await page.keyboard.type(KEYS.operator);
      await page.keyboard.press('Enter');
      await arrive(page, 'Payments in REVIEW');

      await tabTo(page, page.locator(`a[href="/desk/payments/${id}"]`));
      await page.keyboard.press('Enter');
      await arrive(page, 'Payout of 700 XAF');

      await tabTo(page, page.getByRole('link', { name: 'Fail the payment' }));
      await page.keyboard.press('Enter');
      await arrive(page, 'Fail the payment');

      // The cursor goes into the field by itself.
      await page.getByLabel('Why').and(page.locator(':focus')).waitFor();
      await page.keyboard.type('ticket 4711');
      await tabTo(page, page.getByRole('button', { name: 'Go on to the confirmation' }));
      await page.keyboard.press('Enter');
      await arrive(page, 'Fail this payout of 700 XAF?');
      await page.getByText('Nothing has been decided yet').waitFor();
      expect((await stack.read(id)).body.status).toBe('REVIEW');

      await tabTo(page, page.getByRole('button', { name: 'Fail it: 700 XAF' }));
      await page.keyboard.press('Space');
      await page.getByRole('status').getByText('is FAILED now').waitFor();
      expect((await stack.read(id)).body).toMatchObject({
        status: 'FAILED',
        resolution: { by: 'operator', why: 'ticket 4711' },
      });

      await page.goBack();
      await page.goBack();
      await page.reload();
      expect((await stack.read(id)).body.status).toBe('FAILED');

      await page.goto(`${desk.url}/desk`);
      await tabTo(page, page.getByRole('button', { name: 'Sign out' }));
      await page.keyboard.press('Enter');
      await arrive(page, 'Sign in to the desk');
      await page.goto(`${desk.url}/desk/payments/${id}`);
      await arrive(page, 'Sign in to the desk');
      expect(complaints).toEqual([]);
    },
  );

  it('has one person approve a payout that another has ordered, and reject the next', async () => {
    const keys = [
      { name: 'shop', person: 'ann', secret: 'secret-of-ann', scopes: ['payouts', 'approve'] },
      { name: 'shop', person: 'bob', secret: 'secret-of-bob', scopes: ['approve'] },
    ] as const;
    const api = await stack.startMore({
      merchants: merchantsWith(keys, { approveAbove: 1_000 }),
      answerWithinMs: 20_000,
    });
    const ours = await startDesk(api.url);
    try {
      const order = async (amount: number, name: string) => {
        const body = { amount, name, phone: '677000000', message: 'November' };
        const headers = { 'idempotency-key': name };
        return (await api.ask('POST', '/v1/payouts', { key: 'secret-of-ann', body, headers })).body.id as string;
      };
      const [wages, invoice] = [await order(90_000, 'Ngono Marie'), await order(2_000_000, 'Mvogo Paul')];
      await eventually(
        () => api.ask('GET', '/v1/payments?held=approval', { key: 'secret-of-bob' }),
        (list) => list.body.data.length === 2,
      );
      const read = async (id: string) => (await api.ask('GET', `/v1/payments/${id}`, { key: 'secret-of-bob' })).body;

      const { page, complaints } = await visit(browser, `${ours.url}/desk`, NARROW);
      await keyField(page).and(page.locator(':focus')).waitFor();
      await page.keyboard.type('secret-of-bob');
      await page.keyboard.press('Enter');
      await arrive(page, 'Payouts to approve');
      const item = (name: string) => page.getByRole('listitem').filter({ hasText: name });
      await item('Ngono Marie').getByText('ann').waitFor();
      await tabTo(page, item('Ngono Marie').getByLabel('Repeat the amount'));
      await page.keyboard.type('90,000');
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText('90,000 XAF: approved').waitFor();
      expect(
        await eventually(
          () => read(wages),
          ({ transId }) => transId !== undefined,
        ),
      ).not.toHaveProperty('held');

      await tabTo(page, item('Mvogo Paul').locator('summary'));
      await page.keyboard.press('Enter');
      await tabTo(page, item('Mvogo Paul').getByLabel('Why'));
      await page.keyboard.type('no such invoice');
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText('rejected. Nothing was sent.').waitFor();
      expect(await read(invoice)).toMatchObject({ status: 'FAILED', failureCode: 'not_approved' });
      expect(stack.transactionsOf(invoice)).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await ours.stop();
    }
  });

  it('takes a second person, who decides the same, for a large payout', async () => {
    const keys = [
      { name: 'shop', secret: KEYS.shop, scopes: ['payouts', 'read'] },
      { name: 'ann', secret: 'secret-of-ann', scopes: ['review'] },
      { name: 'bob', secret: 'secret-of-bob', scopes: ['review'] },
    ] as const;
    const merchants = merchantsWith(keys, { secondPersonAbove: 699 });
    const hasty = await stack.startMore({
      terms: { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 },
      merchants,
      answerWithinMs: HASTY_MS,
    });
    const api = await stack.startMore({ merchants, answerWithinMs: 20_000 });
    const ours = await startDesk(api.url);
    try {
      const id = await stack.doubtfulPayout(hasty);
      await eventually(
        () => api.ask('GET', '/v1/payments?status=REVIEW', { key: 'secret-of-ann' }),
        (list) => list.body.data.some((one: { id: string }) => one.id === id),
      );
      const complaints: (readonly string[])[] = [];
      const signedIn = async (key: string): Promise<Page> => {
        const visitor = await visit(browser, `${ours.url}/desk`, WIDE);
        complaints.push(visitor.complaints);
        await keyField(visitor.page).and(visitor.page.locator(':focus')).waitFor();
        await visitor.page.keyboard.type(key);
        await visitor.page.keyboard.press('Enter');
        await arrive(visitor.page, 'Payments in REVIEW');
        await tabTo(visitor.page, visitor.page.locator(`a[href="/desk/payments/${id}"]`));
        return visitor.page;
      };
      const press = async (page: Page, wanted: Locator, heading: string): Promise<void> => {
        await tabTo(page, wanted);
        await page.keyboard.press('Enter');
        await arrive(page, heading);
      };
      const decide = async (page: Page, why: string): Promise<void> => {
        await page.getByLabel('Why').and(page.locator(':focus')).waitFor();
        await page.keyboard.type(why);
        const goOn = page.getByRole('button', { name: 'Go on to the confirmation' });
        await press(page, goOn, 'Fail this payout of 700 XAF?');
        await tabTo(page, page.getByRole('button', { name: 'Fail it: 700 XAF' }));
        await page.keyboard.press('Space');
      };

      const ann = await signedIn('secret-of-ann');
      await ann.getByText('A decision takes two people').waitFor();
      await ann.keyboard.press('Enter');
      await arrive(ann, 'Payout of 700 XAF');
      await press(ann, ann.getByRole('link', { name: 'Fail the payment' }), 'Fail the payment');
      await decide(ann, 'ticket 4711');
      await ann.getByRole('status').getByText('waits for a second person').waitFor();
      expect(await ann.getByRole('link', { name: 'Decide the same' }).count()).toBe(0);
      expect(await ann.getByRole('link', { name: 'Withdraw it' }).count()).toBe(1);

      const bob = await signedIn('secret-of-bob');
      await bob.getByText('Waits for a second person: ann has decided: Fail the payment').waitFor();
      await bob.keyboard.press('Enter');
      await arrive(bob, 'Payout of 700 XAF');
      await press(bob, bob.getByRole('link', { name: 'Decide the same' }), 'Fail the payment');
      await decide(bob, 'I see none, either');
      await bob.getByRole('status').getByText('decided by ann and bob').waitFor();
      expect((await stack.read(id)).body).toMatchObject({
        status: 'FAILED',
        resolution: { by: 'ann', why: 'ticket 4711', approval: { by: 'bob', why: 'I see none, either' } },
      });
      expect(complaints.flat()).toEqual([]);
    } finally {
      await ours.stop();
    }
  });

  it('leads past the navigation to the content', async () => {
    const { page } = await visit(browser, `${desk.url}/desk`);
    await signIn(page, KEYS.operator);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#main');
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Merchant').and(page.locator(':focus')).count()).toBe(1);
  });
});
