import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { untilOver } from '../../../lab/chaos/context.js';
import { operate } from '../../../lab/people/chaos-operators.js';
import { observedOf } from '../../../lab/people/observed-payment.js';
import { planChaosPayments } from '../../../lab/plan/chaos-payments.js';
import { LocalServer } from '../../../lab/world/local-server.js';
import { payDirectly, phones, type Running, startSandbox } from '../../support/running-sandbox.js';
import { contextOf, stackAt } from '../chaos-context.js';

const planned = planChaosPayments(50, 1_000, 1).find(({ way }) => way === 'direct');
if (planned === undefined) throw new Error('the plan has no direct payment');
const order = planned;
const { id } = order;

const UNDER_REVIEW = {
  id,
  status: 'REVIEW',
  final: false,
  amount: 5_000,
  review: { number: 3, decideFrom: '2026-11-22T00:00:00.000Z' },
};

describe('the operators of a chaos run', () => {
  let books: Running;
  let api: LocalServer;
  let transId: string | undefined;
  /** Resolves to the operators' decision at the API, or once the list was read twice. */
  let decided: Promise<unknown>;

  beforeEach(async () => {
    books = await startSandbox();
    transId = undefined;
    let lists = 0;
    let decide: (decision: unknown) => void = () => undefined;
    decided = new Promise((resolve) => {
      decide = resolve;
    });
    api = new LocalServer(async (request, response) => {
      if (request.method === 'POST') decide({ path: request.url, ...JSON.parse(await text(request)) });
      else if (request.url?.includes('?') && ++lists > 1) decide('nothing');
      // As the API has it: a list doesn't show the reviews.
      const isList = request.url?.includes('?') ?? false;
      const body = isList ? { data: [{ id }] } : { ...UNDER_REVIEW, transId };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await api.listen();
  });

  afterEach(async () => {
    await api.leave();
  });

  async function decision() {
    const home = new AbortController();
    const record = observedOf(order);
    const context = contextOf(stackAt({ apiUrl: api.url, sandboxUrl: books.url }), [record], home.signal);
    const operating = untilOver(operate(context, 10));
    const what = await decided;
    home.abort();
    await operating;
    context.api.close();
    return { what, reviews: record.reviews };
  }

  it('have a payment sent again or fail it when the books have nothing of it', async () => {
    const { what, reviews } = await decision();
    expect(what).toMatchObject({
      path: `/v1/payments/${id}/resolve`,
      action: expect.stringMatching(/^(resend|fail)$/),
      review: 3,
      why: expect.any(String),
    });
    expect(reviews).toBe(1);
  });

  it('match it with the transaction that the books have', async () => {
    const paid = await payDirectly(books, { externalId: id, phone: phones.stays });
    expect((await decision()).what).toMatchObject({ action: 'match', review: 3, transId: paid });
  });

  it('leave it alone when that transaction is being followed already', async () => {
    transId = await payDirectly(books, { externalId: id, phone: phones.stays });
    expect((await decision()).what).toBe('nothing');
  });
});
