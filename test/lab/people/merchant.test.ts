import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { askForPayment } from '../../../lab/people/merchant.js';
import { type ObservedPayment, observedOf } from '../../../lab/people/observed-payment.js';
import { planChaosPayments } from '../../../lab/plan/chaos-payments.js';
import { LocalServer } from '../../../lab/world/local-server.js';
import { contextOf, stackAt } from '../chaos-context.js';

const quiet = { twin: false, repeatsAfter: [], looksAfter: [] };
/** A planned payment of a kind, of a merchant without habits. */
const planOf = (kind: 'direct' | 'link'): ObservedPayment => {
  const planned = planChaosPayments(50, 1_000, 1).find(({ way }) => way === kind);
  if (planned === undefined) throw new Error(`the plan has no ${kind} payment`);
  return observedOf({ ...planned, habits: quiet });
};
const direct = () => planOf('direct');

type Answer = (response: ServerResponse) => void;
const json =
  (status: number, body: object): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const cut: Answer = (response) => void response.destroy();
const payment = (status: number, shown: object): Answer =>
  json(status, { id: direct().planned.id, amount: 100, status: 'PENDING', final: false, ...shown });

describe('a merchant in a chaos run', () => {
  const servers: LocalServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.leave()));
  });

  /** Takes one payment through an API that gives these answers, the last one for ever. */
  async function take(...answers: Answer[]) {
    return await takeOf(direct(), ...answers);
  }

  async function takeOf(record: ObservedPayment, ...answers: Answer[]) {
    const seen: { key: unknown; body: string }[] = [];
    const server = new LocalServer(async (request: IncomingMessage, response: ServerResponse) => {
      seen.push({ key: request.headers['idempotency-key'], body: await text(request) });
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      answer?.(response);
    });
    servers.push(server);
    await server.listen();
    const context = contextOf(stackAt({ apiUrl: server.url }), [record]);
    await askForPayment(record, context);
    await context.timeline.idle();
    context.api.close();
    return { record, seen, actions: context.actions };
  }

  it('asks with the same key and body until there is an answer', async () => {
    const { record, seen, actions } = await take(cut, json(503, { code: 'x' }), payment(201, {}));
    expect(record.taken).toBe(true);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
    expect(seen[0]?.key).toBe(record.planned.key);
    expect(actions.toJSON()).toEqual({ 'merchant: 503': 1, 'merchant: no answer': 1 });
    expect(record.wrongAnswers).toEqual([]);
  });

  it('takes a refusal by the provider for an answer', async () => {
    const refused = json(422, {
      code: 'rejected_by_provider',
      payment: { id: direct().planned.id, status: 'FAILED', final: true, amount: 100 },
    });
    const { record } = await take(refused);
    expect(record.taken).toBe(true);
    expect(record.shownEnds.map(({ status }) => status)).toEqual(['FAILED']);
  });

  it.each([
    ['a 409 for the same body', json(409, { code: 'idempotency_key_reused' })],
    ['a 400 for a valid request', json(400, { code: 'invalid_request' })],
    ['an answer without a payment', json(201, {})],
    ['another payment', payment(201, { id: 'col_other' })],
  ])('holds %s against the API', async (_, answer) => {
    const { record } = await take(answer);
    expect(record.wrongAnswers).toHaveLength(1);
  });

  it('holds a 500 against the API, and asks again', async () => {
    const { record } = await take(json(500, { code: 'x' }), payment(201, {}));
    expect(record.wrongAnswers).toHaveLength(1);
    expect(record.taken).toBe(true);
  });

  it('no longer asks for the link of a payment that is gone', async () => {
    const record = planOf('link');
    const shown = { id: record.planned.id, amount: 100, status: 'CREATED', final: false };
    const { seen } = await takeOf(record, json(202, shown), json(404, { code: 'not_found' }));
    expect(seen).toHaveLength(2);
    expect(record.wrongAnswers).toEqual(['the payment was answered 404']);
  });
});
