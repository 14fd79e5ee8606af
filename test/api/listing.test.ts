import { beforeAll, describe, expect, it } from '@jest/globals';
import { doualaTime } from '../../src/payments/words/time.js';
import { type Answered, KEYS, terms } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();

const list = (query = '', key: string = KEYS.shop, headers: Record<string, string> = {}) =>
  stack.api.ask('GET', `/v1/payments${query}`, { key, headers });
const ids = ({ body }: Answered): string[] => body.data.map((payment: { id: string }) => payment.id);
/** A list once it has what it should have. */
const listed = (query: string, length: number, key?: string) =>
  eventually(
    () => list(query, key),
    (answer) => answer.status === 200 && answer.body.data.length === length,
  );

describe('a list of payments', () => {
  it("has the caller's own alone, newest first", async () => {
    const user = 'own-and-newest';
    const link = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    const sent = await stack.begun('/v1/payouts', { ...payout, userId: user });
    const { body: others } = await stack.post('/v1/payouts', { ...payout, userId: user }, undefined, KEYS.rival);
    await stack.visit(link, 'pay');
    await stack.post(`/v1/payments/${link.id}/refresh`);

    const answer = await eventually(
      () => list(`?userId=${user}`),
      ({ body }) => body.data.length === 2 && body.data[1].final,
    );
    expect(ids(answer)).toEqual([sent.id, link.id]);
    expect(answer.body).not.toHaveProperty('nextCursor');
    const [, shown] = answer.body.data;
    const { body: payment } = await stack.read(link.id);
    expect(payment).toMatchObject(shown);
    expect(shown).toMatchObject({ status: 'SUCCESSFUL', final: true });
    expect(ids(await listed(`?userId=${user}`, 1, KEYS.rival))).toEqual([others.id]);
    expect(ids(await list(`?userId=${user}`, KEYS.reader))).toEqual([]);
  });

  it("has everybody's for an operator", async () => {
    const user = 'everybodys';
    const mine = await stack.begun('/v1/payouts', { ...payout, userId: user });
    const { body: others } = await stack.post('/v1/payouts', { ...payout, userId: user }, undefined, KEYS.rival);
    const all = await listed(`?userId=${user}`, 2, KEYS.operator);
    expect(all.body.data).toMatchObject([
      { id: others.id, merchant: 'rival', temporalUrl: expect.stringContaining(others.id) },
      { id: mine.id, merchant: 'shop', temporalUrl: expect.stringContaining(mine.id) },
    ]);
    expect(ids(await list(`?userId=${user}&merchant=rival`, KEYS.operator))).toEqual([others.id]);
  });

  it("names neither the merchant nor an internal address to a merchant, and takes no other merchant's name", async () => {
    const user = 'plain';
    await stack.begun('/v1/payouts', { ...payout, userId: user });
    const own = await listed(`?userId=${user}&merchant=shop`, 1);
    expect(own.body.data[0]).not.toHaveProperty('merchant');
    expect(own.body.data[0]).not.toHaveProperty('temporalUrl');
    const { status, body } = await list('?merchant=rival');
    expect([status, body.code]).toEqual([403, 'forbidden']);
  });

  it('has what is asked for alone', async () => {
    const user = 'filtered';
    const link = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    const expired = await stack.begun('/v1/collections', {
      method: 'link',
      amount: 500,
      userId: user,
      externalId: 'order-1',
    });
    await stack.post(`/v1/collections/${expired.id}/expire`);
    const sent = await stack.begun('/v1/payouts', { ...payout, userId: user, externalId: 'order-1' });
    await listed(`?userId=${user}`, 3);

    expect(ids(await list(`?userId=${user}&kind=collection`))).toEqual([expired.id, link.id]);
    expect(ids(await list(`?userId=${user}&externalId=order-1`))).toEqual([sent.id, expired.id]);
    expect(ids(await listed(`?userId=${user}&status=EXPIRED`, 1))).toEqual([expired.id]);
    expect(ids(await list(`?userId=${user}&kind=payout&status=EXPIRED`))).toEqual([]);

    const between = Date.parse(expired.createdAt);
    const since = new Date(between - 1_000).toISOString();
    expect(ids(await list(`?userId=${user}&created[gte]=${since}`))).toContain(sent.id);
    expect(ids(await list(`?userId=${user}&created[lt]=2020-01-01`))).toEqual([]);
    expect(ids(await list(`?userId=${user}&created[gte]=2999-01-01`))).toEqual([]);
    expect(ids(await list(`?userId=${user}&created%5Blt%5D=2999-01-01T00:00:00%2B01:00`))).toHaveLength(3);
  });

  it('comes in pages, which what happens meanwhile does not shift', async () => {
    const user = 'paged';
    const begun: string[] = [];
    for (let count = 0; count < 5; count++) {
      begun.unshift((await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user })).id);
    }
    await listed(`?userId=${user}`, 5);
    const first = await list(`?userId=${user}&limit=2`);
    // One that was on the first page ends, and a new one begins.
    await stack.post(`/v1/collections/${begun[0]}/expire`);
    await stack.begun('/v1/payouts', { ...payout, userId: user });
    await listed(`?userId=${user}`, 6);

    const second = await list(`?userId=${user}&limit=2&cursor=${first.body.nextCursor}`);
    const third = await list(`?userId=${user}&limit=2&cursor=${second.body.nextCursor}`);
    expect([...ids(first), ...ids(second), ...ids(third)]).toEqual(begun);
    expect(third.body).not.toHaveProperty('nextCursor');
  });

  it('follows a change within moments', async () => {
    const user = 'as-it-stands';
    const { id } = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    await listed(`?userId=${user}&status=CREATED`, 1);
    await stack.post(`/v1/collections/${id}/expire`);
    await listed(`?userId=${user}&status=CREATED`, 0);
    expect(ids(await listed(`?userId=${user}&status=EXPIRED`, 1))).toEqual([id]);
  });

  it('has all that is open with final=false, a failed attempt to pay a link included, and what is over with final=true', async () => {
    const user = 'open-or-over';
    const link = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    const attempted = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    await stack.visit(attempted, 'decline');
    await stack.post(`/v1/payments/${attempted.id}/refresh`);
    const over = await stack.begun('/v1/payouts', { ...payout, userId: user });
    await stack.post(`/v1/payments/${over.id}/refresh`);
    expect(ids(await listed(`?userId=${user}&final=true`, 1))).toEqual([over.id]);
    const open = await listed(`?userId=${user}&final=false`, 2);
    expect(ids(open)).toEqual([attempted.id, link.id]);
    expect(open.body.data[0]).toMatchObject({ status: 'FAILED', final: false });
  });

  it('tells a failed attempt to pay a link from a payment that has failed for good', async () => {
    const user = 'failed';
    const link = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    await stack.visit(link, 'decline');
    await stack.post(`/v1/payments/${link.id}/refresh`);
    const { body: attempted } = await listed(`?userId=${user}&status=FAILED`, 1);
    expect(attempted.data[0]).toMatchObject({ id: link.id, final: false });
    const sent = await stack.begun('/v1/payouts', { ...payout, phone: '677000100', userId: user });
    await stack.post(`/v1/payments/${sent.id}/refresh`);
    const { body: failed } = await listed(`?userId=${user}&status=FAILED&kind=payout`, 1);
    expect(failed.data[0]).toMatchObject({ id: sent.id, final: true });
  });

  it("finds a payment by the provider's transaction", async () => {
    const { id, transId } = await stack.begun('/v1/payouts', payout);
    expect(ids(await listed(`?transId=${transId}`, 1))).toEqual([id]);
    expect(ids(await list(`?transId=${transId}`, KEYS.rival))).toEqual([]);
  });

  it('needs no worker', async () => {
    const user = 'without-worker';
    const { id } = await stack.begun('/v1/collections', { method: 'link', amount: 500, userId: user });
    await listed(`?userId=${user}`, 1);
    const answer = await stack.withoutWorker(() => list(`?userId=${user}`));
    expect([answer.status, ids(answer)]).toEqual([200, [id]]);
  });

  describe("with one whose state can't be opened", () => {
    const user = 'one-unreadable';
    let unreadable: string;
    let id: string;
    beforeAll(async () => {
      ({ id } = await stack.begun('/v1/payouts', { ...payout, userId: user }));
      ({ id: unreadable } = await stack.begun('/v1/payouts', { ...payout, userId: user, sendAt: soon() }));
      await stack.book.query('UPDATE states SET sealed = $2 WHERE id = $1', [unreadable, Buffer.from('changed')]);
    });
    const soon = () => new Date(Date.now() + 3_600_000).toISOString();

    it.each(['shop', 'operator'] as const)('names it beside the others to the key %s', async (name) => {
      const answer = await list(`?userId=${user}`, KEYS[name]);
      expect([answer.status, ids(answer)]).toEqual([200, [id]]);
      const internal = { merchant: 'shop', temporalUrl: expect.stringContaining(unreadable) };
      expect(answer.body.unreadable).toEqual([{ id: unreadable, ...(name === 'operator' && internal) }]);
    });

    it('names it to its own merchant alone', async () => {
      expect((await list(`?userId=${user}`, KEYS.rival)).body).toEqual({ data: [], unreadable: [] });
    });

    it('goes on after it, on the page after the one that has it alone', async () => {
      const first = await list(`?userId=${user}&limit=1`);
      expect([first.status, ids(first), first.body.unreadable.length]).toEqual([200, [], 1]);
      const second = await list(`?userId=${user}&limit=1&cursor=${first.body.nextCursor}`);
      expect([ids(second), second.body.unreadable, second.body.nextCursor]).toEqual([[id], [], undefined]);
    });

    it('has it as CSV, too', async () => {
      const { text } = await list(`?userId=${user}`, KEYS.shop, { accept: 'text/csv' });
      expect(text.split('\r\n')).toContain(`${unreadable}${','.repeat(19)}`);
      const all = await list(`?userId=${user}`, KEYS.operator, { accept: 'text/csv' });
      expect(all.text.split('\r\n')).toContain(`${unreadable}${','.repeat(20)}shop`);
    });
  });

  it('is CSV for those who accept that alone, or rather', async () => {
    const user = 'as-csv';
    const metadata = { cart: 'a "b", c' };
    const externalId = 'order-9';
    const body = { method: 'link', amount: 12_500, userId: user, externalId, metadata };
    const { id, transId } = await stack.begun('/v1/collections', body);
    const { body: json } = await listed(`?userId=${user}&limit=1`, 1);
    const { headers, text } = await list(`?userId=${user}`, KEYS.shop, { accept: 'text/csv' });
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const createdAt = doualaTime(Date.parse(json.data[0].createdAt));
    const updatedAt = doualaTime(Date.parse(json.data[0].updatedAt));
    expect(createdAt).toMatch(/\+01:00$/);
    expect(text).toBe(
      'id,kind,method,status,final,amount,amountPaid,currency,revenue,fee,medium,transId,failureCode,reason,' +
        'externalId,userId,refundOf,createdAt,updatedAt,metadata\r\n' +
        `${id},collection,link,CREATED,false,12500,,XAF,,,,${transId},,,order-9,as-csv,,${createdAt},${updatedAt},` +
        '"{""cart"":""a \\""b\\"", c""}"\r\n',
    );
    // Reading an answer as text takes the byte order mark away, without which Excel takes UTF-8 for another encoding.
    const raw = await fetch(`${stack.api.url}/v1/payments?userId=${user}`, {
      headers: { authorization: `Bearer ${KEYS.shop}`, accept: 'text/csv' },
    });
    expect([...new Uint8Array(await raw.arrayBuffer()).slice(0, 5)]).toEqual([0xef, 0xbb, 0xbf, 0x69, 0x64]);
    const rather = await list(`?userId=${user}`, KEYS.shop, { accept: 'application/json;q=0.5, text/csv' });
    expect(rather.text).toBe(text);
    const any = await list(`?userId=${user}`, KEYS.shop, { accept: '*/*' });
    expect(any.body.data).toHaveLength(1);
  });

  it('as CSV has no cell that a spreadsheet would take for a formula', async () => {
    const user = 'as-formulas';
    const metadata = { note: ';=1+1;', name: '=1+1' };
    const body = { ...payout, userId: user, externalId: '-1-1', metadata };
    const { id } = await stack.begun('/v1/payouts', body);
    await listed(`?userId=${user}`, 1);
    const { text } = await list(`?userId=${user}`, KEYS.shop, { accept: 'text/csv' });
    const [, row = ''] = text.split('\r\n');
    expect(row.startsWith(`${id},payout,,`)).toBe(true);
    expect(row).toContain(`,'-1-1,${user},`);
    expect(row).not.toContain(';');
    const semicolons = await list(`?userId=${user}&separator=semicolon`, KEYS.shop, { accept: 'text/csv' });
    expect(semicolons.text.split('\r\n')[1]).toMatch(new RegExp(`^${id};payout;;.*;'-1-1;${user};`));
    expect((await list('?separator=tab', KEYS.shop)).body.code).toBe('invalid_request');
    const [, json = ''] = /"(\{.*\})"$/.exec(row) ?? [];
    expect(JSON.parse(json.replaceAll('""', '"'))).toEqual(metadata);
  });

  it('as CSV has a column with the merchant for operators', async () => {
    const user = 'as-csv-of-all';
    for (const key of [KEYS.shop, KEYS.rival])
      await stack.post('/v1/payouts', { ...payout, userId: user }, undefined, key);
    await listed(`?userId=${user}`, 2, KEYS.operator);
    const { text } = await list(`?userId=${user}`, KEYS.operator, { accept: 'text/csv' });
    const rows = text.trimEnd().split('\r\n');
    const columns = rows.map((row) => row.split(',').length);
    expect(rows[0]).toMatch(/,metadata,merchant$/);
    expect(rows.slice(1).map((row) => row.split(',').at(-1))).toEqual(['rival', 'shop']);
    expect(new Set(columns).size).toBe(1);
  });

  it('leads to the next page by its header Link as well', async () => {
    const user = 'linked';
    for (let count = 0; count < 2; count++) await stack.begun('/v1/payouts', { ...payout, userId: user });
    await listed(`?userId=${user}`, 2);
    const { headers, body } = await list(`?userId=${user}&limit=1`);
    const [, next = ''] = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    expect(next).toBe(`/v1/payments?userId=${user}&limit=1&cursor=${body.nextCursor}`);
    const second = await stack.api.ask('GET', next, { key: KEYS.shop });
    expect([second.status, second.body.data.length, second.headers.get('link')]).toEqual([200, 1, null]);
  });

  it('shows a payment once that somebody has reset, as its new run is', async () => {
    const user = 'was-reset';
    const { id } = await stack.begun('/v1/payouts', { ...payout, phone: '677000800', userId: user });
    const { client } = stack.api;
    const { events } = await client.workflow.getHandle(id).fetchHistory();
    const task = events?.find((event) => event.workflowTaskCompletedEventAttributes);
    await client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: id },
      requestId: 'reset',
      workflowTaskFinishEventId: task?.eventId ?? null,
    });
    expect(ids(await listed(`?userId=${user}&status=REVIEW`, 0, KEYS.operator))).toEqual([]);
    expect(ids(await listed(`?userId=${user}`, 1))).toEqual([id]);
  });

  it('shows a payment once that was opened again, as it is now', async () => {
    const user = 'reopened';
    const payment = await stack.begun('/v1/payouts', { ...payout, userId: user });
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    await stack.read(payment.id, '?wait=60');
    const entry = stack.sandbox.ledger.find(payment.transId);
    if (entry !== undefined) entry.status = 'FAILED';
    await stack.hint(payment, 'FAILED');

    const { body } = await listed(`?userId=${user}&status=REVIEW`, 1, KEYS.operator);
    expect(body.data[0]).toMatchObject({ id: payment.id, final: false });
    await listed(`?userId=${user}&status=SUCCESSFUL`, 0);
    await listed(`?userId=${user}&final=true`, 0);
    expect(ids(await list(`?userId=${user}&final=false`))).toEqual([payment.id]);
    expect(ids(await list(`?userId=${user}`))).toEqual([payment.id]);
    expect(ids(await list(`?userId=${user}&limit=1`))).toEqual([payment.id]);
  });
});

describe('a query for payments', () => {
  it.each([
    ['status', 'PAID'],
    ['status', 'review'],
    ['kind', 'refund'],
    ['final', 'no'],
    ['final', ''],
    ['externalId', 'order 1'],
    ['externalId', '%22+OR+Merchant+!=+%22'],
    ['userId', ''],
    ['created[gte]', 'yesterday'],
    ['created[lt]', '1795249234'],
    ['transId', ''],
    ['transId', '..'],
    ['financialTransId', ''],
    ['financialTransId', 'MP24%201122'],
    ['financialTransId', 'M'.repeat(201)],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '-1'],
    ['limit', 'all'],
    ['cursor', 'nonsense'],
    ['cursor', ''],
    ['owner', 'rival'],
    ['created', '2026-11-21'],
  ])("can't have the %s %p", async (name, value) => {
    const { status, body } = await list(`?${name}=${value}`);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors).toMatchObject([{ field: name }]);
  });

  it("can't name a thing twice", async () => {
    const { status, body } = await list('?status=FAILED&status=EXPIRED');
    expect([status, body.errors.length]).toEqual([400, 1]);
  });
});

describe('payments under review', () => {
  it('are listed for an operator as soon as visibility has them', async () => {
    const grace = { ...terms, ambiguousGraceMs: 1_000 };
    const hasty = await stack.startMore({ terms: grace, answerWithinMs: HASTY_MS });
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const body = { ...payout, userId: 'reviewed' };
    const { body: payment } = await hasty.ask('POST', '/v1/payouts', { key: KEYS.shop, body });
    await hasty.stop();
    const answer = await listed('?status=REVIEW&userId=reviewed', 1, KEYS.operator);
    expect(answer.body.data[0]).toMatchObject({
      id: payment.id,
      status: 'REVIEW',
      final: false,
    });
  });
});
