import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ChaosRecord, chaosRecordOf } from '../../../lab/chaos/chaos-record.js';
import { compare } from '../../../lab/chaos/compare.js';
import { planPayments } from '../../../lab/chaos/plan/plan-payments.js';
import type { Notice } from '../../../lab/simulation/actors/merchant-endpoint.js';
import { LocalServer } from '../../../lab/simulation/world/local-server.js';
import {
  HOUR,
  payDirectly,
  phones,
  type Running,
  SECOND,
  START,
  startSandbox,
} from '../../sandbox/running-sandbox.js';
import { sceneOf, stackAt } from './scene.js';

const planned = planPayments(50, 1_000, 1).find(({ way }) => way === 'direct');
if (planned === undefined) throw new Error('the plan has no direct payment');
const { id } = planned;

const shown = (status: string, final: boolean) => ({ id, status, final, amount: 1000 });

/** What the merchant was told, by the first notification. */
const told = (status: Notice['told']['data']['status'], at: number): Notice => ({
  webhookId: `evt_${id}_1`,
  at,
  acknowledged: true,
  told: {
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
  let record: ChaosRecord;

  beforeEach(async () => {
    books = await startSandbox();
    answer = { status: 404, body: { code: 'not_found' } };
    api = new LocalServer((_, response) => {
      response.writeHead(answer.status).end(JSON.stringify(answer.body));
    });
    await api.listen();
    record = { ...chaosRecordOf(planned), taken: true };
  });

  afterEach(async () => {
    await api.leave();
  });

  async function violations(): Promise<string[]> {
    const scene = sceneOf(stackAt({ apiUrl: api.url, sandboxUrl: books.url }), [record]);
    const found = await compare(scene);
    scene.api.close();
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
    record.ends.add('SUCCESSFUL');
    record.notices.push(told('SUCCESSFUL', START + HOUR));
    expect(await violations()).toEqual([]);
  });

  it('finds a payment that was made twice, and put before nobody', async () => {
    await taken();
    await taken();
    show('SUCCESSFUL');
    record.notices.push(told('SUCCESSFUL', START + HOUR));
    expect(await violations()).toEqual(['doublePaid', 'oversent', 'unnoticed']);
  });

  it('finds a payment that is gone', async () => {
    await taken();
    expect(await violations()).toContain('lost');
  });

  it('finds a transaction that nobody asked for', async () => {
    show('FAILED');
    record.notices.push(told('FAILED', START + HOUR));
    await payDirectly(books, { externalId: 'col_somebody' });
    expect(await violations()).toEqual(['lost']);
  });

  it('finds a wrong outcome', async () => {
    await taken(phones.fails);
    show('SUCCESSFUL');
    record.notices.push(told('SUCCESSFUL', START + HOUR));
    expect(await violations()).toEqual(expect.arrayContaining(['wrongOutcome', 'notifiedWrong']));
  });

  it('finds an end that was shown, and then was another', async () => {
    await taken();
    show('SUCCESSFUL');
    record.notices.push(told('SUCCESSFUL', START + HOUR));
    record.ends.add('FAILED');
    expect(await violations()).toEqual(['wrongOutcome']);
  });

  it('finds an outcome that the merchant was told before it was so', async () => {
    await taken(phones.succeedsIn5s);
    show('SUCCESSFUL');
    record.notices.push(told('SUCCESSFUL', START + SECOND));
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
    record.notices.push(told('SUCCESSFUL', START + HOUR));
    expect(await violations()).toEqual(['overLimit']);
  });

  it.each(['PENDING', 'REVIEW'])('finds a payment that is %s when all should have ended', async (status) => {
    await taken();
    show(status, false);
    expect(await violations()).toContain('stuck');
  });
});
