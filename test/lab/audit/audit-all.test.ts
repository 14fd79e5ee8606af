import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { auditByBooks } from '../../../lab/audit/audit-all.js';
import type { BookAtEnd } from '../../../lab/audit/booked.js';
import type { SeenPayment } from '../../../lab/people/api-client.js';
import type { ReceivedNotification } from '../../../lab/people/merchant-endpoint.js';
import { type ObservedPayment, observedOf } from '../../../lab/people/observed-payment.js';
import { planChaosPayments } from '../../../lab/plan/chaos-payments.js';
import { LocalServer } from '../../../lab/world/local-server.js';
import { HOUR, payDirectly, phones, type Running, SECOND, START, startSandbox } from '../../support/running-sandbox.js';
import { contextOf, stackAt } from '../chaos-context.js';

const planned = planChaosPayments(50, 1_000, 1).find(({ way }) => way === 'direct');
if (planned === undefined) throw new Error('the plan has no direct payment');
const { id } = planned;

const shown = (status: string, final: boolean) => ({ id, status, final, amount: 1000 });

/** Makes the first notification to the merchant, with this status. */
const notifiedOf = (status: ReceivedNotification['content']['data']['status'], at: number): ReceivedNotification => ({
  webhookId: `evt_${id}_1`,
  at,
  acknowledged: true,
  content: {
    type: status === 'SUCCESSFUL' ? 'payment.succeeded' : 'payment.failed',
    timestamp: new Date(at).toISOString(),
    data: { id, status, final: true, amount: 1000 },
  },
  truth: [],
});

describe("comparing the provider's books with everything else", () => {
  let books: Running;
  let api: LocalServer;
  let answer: { status: number; body: object };
  let record: ObservedPayment;

  beforeEach(async () => {
    books = await startSandbox();
    answer = { status: 404, body: { code: 'not_found' } };
    api = new LocalServer((_, response) => {
      response.writeHead(answer.status).end(JSON.stringify(answer.body));
    });
    await api.listen();
    record = { ...observedOf(planned), taken: true };
  });

  afterEach(async () => {
    await api.leave();
  });

  async function violations(strangers: readonly string[] = []): Promise<string[]> {
    const context = contextOf(stackAt({ apiUrl: api.url, sandboxUrl: books.url }), [record]);
    const { body }: { body: Partial<SeenPayment> } = answer;
    const { status, final, amount } = body;
    // The book has all that is shown.
    const told = [...new Set(record.notifications.map(({ webhookId }) => webhookId))];
    const isKnown = status !== undefined && final !== undefined && amount !== undefined;
    const book: BookAtEnd = {
      of: () => ({
        row: isKnown ? { ...body, id, status, final, amount } : undefined,
        fences: 2,
        notifications: told.map((one, n) => ({ id: one, number: n + 1, position: n + 1, delivery: 'delivered' })),
        untaken: 0,
      }),
      ids: [...(isKnown ? [id] : []), ...strangers],
      wrongSums: [],
    };
    const found = await auditByBooks(context, [], book);
    context.api.close();
    return found.map(({ invariant }) => invariant);
  }

  /** The provider takes the payment, and brings it to the end that the number stands for. */
  const taken = async (phone = phones.succeeds) => {
    await payDirectly(books, { externalId: id, phone });
    await books.advance(5 * SECOND);
  };
  const show = (status: string, final = true) => {
    answer = { status: 200, body: shown(status, final) };
  };

  it('finds nothing where all agree', async () => {
    await taken();
    show('SUCCESSFUL');
    record.shownEnds.push({ at: START + HOUR, status: 'SUCCESSFUL', truth: [] });
    record.notifications.push(notifiedOf('SUCCESSFUL', START + HOUR));
    expect(await violations()).toEqual([]);
  });

  it('finds a payment that was made twice, and put before nobody', async () => {
    await taken();
    await taken();
    show('SUCCESSFUL');
    record.notifications.push(notifiedOf('SUCCESSFUL', START + HOUR));
    expect(await violations()).toEqual(['doublePaid', 'oversent', 'unnoticed']);
  });

  it('finds a payment that is gone', async () => {
    await taken();
    expect(await violations()).toContain('lost');
  });

  it('finds a transaction that nobody asked for', async () => {
    show('FAILED');
    record.notifications.push(notifiedOf('FAILED', START + HOUR));
    await payDirectly(books, { externalId: 'col_somebody' });
    expect(await violations()).toEqual(['lost']);
  });

  it('finds a row that nobody has ordered', async () => {
    await taken();
    show('SUCCESSFUL');
    record.notifications.push(notifiedOf('SUCCESSFUL', START + HOUR));
    expect(await violations(['col_somebody'])).toEqual(['misbooked']);
  });

  it('finds a wrong outcome', async () => {
    await taken(phones.fails);
    show('SUCCESSFUL');
    record.notifications.push(notifiedOf('SUCCESSFUL', START + HOUR));
    expect(await violations()).toEqual(expect.arrayContaining(['wrongOutcome', 'notifiedWrong']));
  });

  it('finds an end that was shown, and then was another', async () => {
    await taken();
    show('SUCCESSFUL');
    record.notifications.push(notifiedOf('SUCCESSFUL', START + HOUR));
    record.shownEnds.push({ at: START - HOUR, status: 'FAILED', truth: [] });
    expect(await violations()).toEqual(['wrongOutcome']);
  });

  it('finds an outcome that the merchant was told before it was so', async () => {
    await taken(phones.succeedsIn5s);
    show('SUCCESSFUL');
    record.notifications.push(notifiedOf('SUCCESSFUL', START + SECOND));
    expect(await violations()).toEqual(['notifiedWrong']);
  });

  it('finds an outcome that the merchant was never told', async () => {
    await taken();
    show('SUCCESSFUL');
    expect(await violations()).toEqual(['unnotified']);
  });

  it("finds a question that the provider's own limit refused", async () => {
    await taken();
    const [entry] = books.sandbox.ledger.all();
    for (let call = 0; call < 7; call++) await books.get(`/payment-status/${entry?.transId}`);
    show('SUCCESSFUL');
    record.notifications.push(notifiedOf('SUCCESSFUL', START + HOUR));
    expect(await violations()).toEqual(['overLimit']);
  });

  it.each(['PENDING', 'REVIEW'])('finds a payment that is %s when all should have ended', async (status) => {
    await taken();
    show(status, false);
    expect(await violations()).toContain('stuck');
  });
});
