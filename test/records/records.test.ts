import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { toPayment } from '../../src/payments/views/to-payment.js';
import type { DirectOrder, LinkOrder } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { openPayment, type PaymentState } from '../../src/payments/words/payment-state.js';
import { dayAfter, dayOf, HOUR_MS, startOf } from '../../src/payments/words/time.js';
import { type Statement, toStatement } from '../../src/reconciliation/statement.js';
import { RecordCipher } from '../../src/records/cipher.js';
import type { NewRecord } from '../../src/records/payment-record.js';
import { Records } from '../../src/records/records.js';
import { type EncryptionKey, keysOf } from '../../src/temporal/encryption.js';
import { terms } from '../support/api-under-test.js';
import { type RecordsServer, recordsServers, startHanging, startPostgreSQL } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { freshKey } from '../support/test-encryption.js';

const logger = pino({ level: 'silent' });
const key = freshKey('one');
const encryptedBy = (...keys: EncryptionKey[]) => ({ keys: keysOf(keys), isOn: true });

const NOON = Date.parse('2026-11-22T12:00:00Z');
const PHONE = '677000205';

const direct = (name: string): DirectOrder => ({
  id: `col_${name}` as PaymentId,
  kind: 'direct',
  amount: 5_000,
  phone: PHONE,
  name: 'Jane Payer',
  email: 'Jane@example.org',
  message: 'Two tickets',
  externalId: `order-${name}`,
  userId: 'customer-7',
  metadata: { cart: 'for Jane' },
});

/** A payment that has ended, as the recorder reads it. */
function recordOf(order: DirectOrder | LinkOrder, given: Partial<NewRecord> = {}, at = NOON): NewRecord {
  const state: PaymentState = {
    ...openPayment(order, terms, at),
    phase: { kind: 'ended', status: 'SUCCESSFUL', checks: [] },
    notifications: [{ number: 1, type: 'payment.succeeded', at: at + 60_000, delivery: { kind: 'noAddress', at } }],
  };
  const payment = toPayment(state);
  const { kind, status, final, amount, externalId, userId } = payment;
  return {
    id: order.id,
    merchant: 'shop',
    runId: 'run-1',
    startedAt: at,
    closedAt: at + 60_000,
    stopped: false,
    indexed: { kind, status, final, amount, externalId, userId, createdAt: at },
    content: { state, requestId: 'request-1', fingerprint: 'digest-of-the-body' },
    ...given,
  };
}

/** The record of a payment to which the mobile operator has given a reference. */
function withReference(record: NewRecord, financialTransId: string): NewRecord {
  const { content } = record;
  const state = content && { ...content.state, facts: { ...content.state.facts, financialTransId } };
  return { ...record, content: content && state && { ...content, state } };
}

const REASON = { by: 'ann', why: 'ticket 4711' };

/** Erases what a preview shows. */
async function erase({ payerData }: Records, payer: string, merchant?: string): Promise<readonly string[]> {
  const { confirmation } = await payerData.preview({ payer, merchant });
  return await payerData.erase({ payer, merchant }, REASON, confirmation);
}

/** Made in the night that follows its day, or at another time. */
function emptyStatement(date: string, version: number, madeAt = startOf(dayAfter(date)) + 3 * HOUR_MS): Statement {
  return toStatement({
    ...{ date, version, madeAt, payments: [], differences: [], cutOff: false },
    gaps: { collection: [], payout: [] },
    balances: { collection: {}, payout: {} },
  });
}

/** Runs a statement of SQL beside the records. */
async function changed(url: string, text: string, values: readonly unknown[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text, [...values]);
  await client.end();
}

describe.each(Object.entries(recordsServers))('the records in %s', (_, start) => {
  let server: RecordsServer;
  let url: string;
  let records: Records;
  /** Everything in the database, as text. */
  async function dump(): Promise<string> {
    const client = new pg.Client(url);
    await client.connect();
    const tables = await client.query<{ text: string; content: Buffer | null }>(
      'SELECT payments::text AS text, content FROM payments UNION ALL SELECT events::text, NULL FROM events UNION ALL SELECT erasures::text, NULL FROM erasures',
    );
    await client.end();
    return tables.rows.map(({ text, content }) => `${text} ${content?.toString('latin1')}`).join('\n');
  }

  beforeAll(async () => {
    server = await start();
    url = await server.create('one');
    records = Records.open(url, encryptedBy(key), logger);
    await records.migrate();
  });
  afterAll(async () => {
    await records.close();
    await server.stop();
  });

  it('are set up by two processes at once, and again later', async () => {
    const empty = await server.create('other');
    const one = Records.open(empty, encryptedBy(key), logger);
    const other = Records.open(empty, encryptedBy(key), logger);
    await Promise.all([one.migrate(), other.migrate()]);
    await other.migrate();
    await expect(one.has('col_none' as PaymentId)).resolves.toBe(false);
    await one.close();
    await other.close();
  });

  it('give a payment back as it was written', async () => {
    const record = recordOf(direct('one'));
    await records.write([record]);
    const { content, ...rest } = record;
    const found = await records.find(record.id);
    expect(found).toMatchObject(rest);
    const payment = content && toPayment(content.state);
    expect(found?.content).toEqual(JSON.parse(JSON.stringify({ ...content, payment })));
    await expect(records.has(record.id)).resolves.toBe(true);
  });

  it.each([
    ['another version has written', (content: object) => ({ ...content, v: 2 }), 'It was written in version 2'],
    ['is damaged', () => ({ v: 1, requestId: 'request-1' }), 'It is damaged: state: '],
  ])('list a payment whose content %s without it, and all others, and log which it is', async (how, write, why) => {
    const merchant = `merchant of what ${how}`.replaceAll(' ', '-');
    const [one, other] = ['unknown', 'known'].map((name) => recordOf(direct(`${name}-${merchant}`), { merchant }));
    if (one?.content === undefined || other === undefined) throw new Error('nothing to write');
    await records.write([one, other]);
    const content = await new RecordCipher(encryptedBy(key)).encrypt(JSON.stringify(write(one.content)));
    await changed(url, 'UPDATE payments SET content = $2 WHERE id = $1', [one.id, content]);
    const error = jest.fn();
    const logged = Records.open(url, encryptedBy(key), Object.assign(pino({ level: 'silent' }), { error }));
    const listed = await logged.list({ merchant }, 10);
    expect(new Map(listed.map((record) => [record.id, record.content?.payment.status]))).toEqual(
      new Map([
        [one.id, undefined],
        [other.id, 'SUCCESSFUL'],
      ]),
    );
    const events = await logged.events({ merchant, after: 0 }, 10);
    expect(events.map(({ payment }) => payment?.id)).toEqual([undefined, other.id]);
    await expect(logged.has(one.id)).resolves.toBe(true);
    const err = expect.objectContaining({ name: 'UnreadableRecordError', message: expect.stringContaining(why) });
    expect(error).toHaveBeenCalledWith({ err, paymentId: one.id }, "a record can't be read");
    await logged.close();
  });

  it('miss statements since the first payment, and not from before they could hold any', async () => {
    const empty = Records.open(await server.create('unstated'), encryptedBy(key), logger);
    await empty.migrate();
    const dueSince = async () => (await empty.statements.state()).dueSince;
    expect(await dueSince()).toBeUndefined();
    const soon = Date.now() + 60 * 60_000;
    await empty.write([recordOf(direct('soon'), {}, soon)]);
    expect(await dueSince()).toBe(soon);
    await empty.write([recordOf(direct('early'), {}, soon - 30 * 24 * 60 * 60_000)]);
    const migrated = Number(await dueSince());
    expect(Math.abs(Date.now() - migrated)).toBeLessThan(10 * 60_000);
    await empty.close();
  });

  it('refuse a statement of another version, or one whose pieces are missing, and give the others', async () => {
    const days = ['2026-11-18', '2026-11-19', '2026-11-20'] as const;
    const [newer, torn, whole] = days;
    for (const day of days)
      await records.statements.publish(`run of ${day}`, day, (version) => emptyStatement(day, version));
    const change = (text: string, values: readonly unknown[]) => changed(url, text, values);
    const written = await new RecordCipher(encryptedBy(key)).encrypt(JSON.stringify({ v: 2 }));
    await change('UPDATE statement_pieces SET content = $2 WHERE run_id = $1', [`run of ${newer}`, written]);
    await change('DELETE FROM statement_pieces WHERE run_id = $1', [`run of ${torn}`]);
    const refused = (message: string) =>
      expect.objectContaining({ name: 'UnreadableRecordError', message: expect.stringContaining(message) });
    await expect(records.statements.find(newer, 1)).rejects.toEqual(refused('written in version 2'));
    await expect(records.statements.find(torn, 1)).rejects.toEqual(refused('pieces are missing'));
    await expect(records.statements.find(whole, 1)).resolves.toMatchObject({ date: whole, version: 1 });
    expect((await records.statements.list(undefined, 10)).map(({ date }) => date)).toEqual([whole, torn, newer]);
  });

  it('take the statement of a day so far for nothing more once that day is over', async () => {
    const { statements } = records;
    const today = dayOf(Date.now());
    const publish = (day: string, made: string, madeAt?: number) =>
      statements.publish(`${made} of ${day}`, day, (version) => emptyStatement(day, version, madeAt));
    await publish(today, 'noon', Date.now());
    const yesterday = dayAfter(today, -1);
    const evening = startOf(today) - 1;
    await publish(yesterday, 'evening', evening);
    const [night, missed] = [dayAfter(today, -2), yesterday];
    await publish(night, 'noon', startOf(night) + 12 * HOUR_MS);
    await publish(night, 'night');

    expect((await statements.list(undefined, 2)).map(({ date, version }) => [date, version])).toEqual([
      [today, 1],
      [night, 2],
    ]);
    expect((await statements.state()).latest).toMatchObject({ date: night, version: 2 });
    await expect(statements.find(today, undefined)).resolves.toMatchObject({ version: 1 });
    await expect(statements.find(missed, undefined)).resolves.toBeUndefined();
    await expect(statements.find(missed, 1)).resolves.toMatchObject({ version: 1 });
    expect(await Promise.all([today, missed, night, '2020-01-01'].map((day) => statements.lastVersion(day)))).toEqual([
      1, 1, 2, 0,
    ]);
    await publish(missed, 'midnight', startOf(today));
    await expect(statements.find(missed, undefined)).resolves.toMatchObject({ version: 2 });
  });

  it('hold no phone number, name, e-mail address, message or metadata in plain text', async () => {
    await records.write([recordOf(direct('secret'))]);
    const text = await dump();
    expect(text).toContain('order-secret');
    for (const word of [PHONE, 'Jane', 'jane', 'tickets', 'for Jane', 'digest-of']) expect(text).not.toContain(word);
  });

  it('have each event once, however often its payment is written', async () => {
    const record = recordOf(direct('twice'));
    await records.write([record, record]);
    await records.write([record]);
    const events = await records.events({ after: 0 }, 1_000);
    expect(events.filter(({ paymentId }) => paymentId === record.id)).toEqual([
      expect.objectContaining({
        id: 'evt_col_twice_succeeded_1',
        type: 'payment.succeeded',
        merchant: 'shop',
        at: NOON + 60_000,
        payment: expect.objectContaining({ id: record.id, status: 'SUCCESSFUL' }),
      }),
    ]);
  });

  it('keep the newest run of a payment, in whichever order the runs are written', async () => {
    const older = recordOf(direct('runs'));
    const newer = { ...older, runId: 'run-2', startedAt: NOON + 1_000, merchant: 'shop' };
    await records.write([newer, older]);
    expect((await records.find(older.id))?.runId).toBe('run-2');
    await expect(records.missing([older, newer], 0)).resolves.toEqual([]);
    const newest = { ...older, runId: 'run-3', startedAt: NOON + 2_000 };
    await expect(records.missing([newest], 0)).resolves.toEqual([newest]);
  });

  it('never let an open run that was read late take the place of its own end', async () => {
    const ended = recordOf(direct('late'));
    await records.write([ended]);
    await records.write([{ ...ended, closedAt: undefined }]);
    expect((await records.find(ended.id))?.closedAt).toBe(ended.closedAt);
  });

  describe('of a payment that ended before Temporal was restored from a backup', () => {
    /** As it was recorded: it failed, in its second run. */
    const recorded = (name: string) => {
      const run = recordOf(direct(name), { runId: 'run-2', startedAt: NOON + 30_000 });
      return { ...run, indexed: { ...run.indexed, status: 'FAILED' as const } };
    };
    const later = NOON + 86_400_000;

    it.each([
      ['the same run', { runId: 'run-2', startedAt: NOON + 30_000 }],
      ['the run before', { runId: 'run-1', startedAt: NOON }],
    ])('take the end that %s comes to again', async (_, run) => {
      const before = recorded(`again-${run.runId}`);
      await records.write([before]);
      const paid = { ...recordOf(direct(`again-${run.runId}`)), ...run, closedAt: later };
      await expect(records.missing([paid], 0)).resolves.toEqual([paid]);
      await records.write([paid]);
      expect(await records.find(paid.id)).toMatchObject({
        ...run,
        closedAt: later,
        indexed: { status: 'SUCCESSFUL' },
      });
      await expect(records.missing([paid], 0)).resolves.toEqual([]);
      // What is read late of before the restore.
      await expect(records.missing([before], 0)).resolves.toEqual([]);
      await records.write([before]);
      expect((await records.find(paid.id))?.closedAt).toBe(later);
    });

    it.each([
      ['the same run', { runId: 'run-2', startedAt: NOON + 30_000 }],
      ['the run before', { runId: 'run-1', startedAt: NOON }],
    ])('keep its outcome when an operator stops %s', async (_, run) => {
      const before = recorded(`stopped-${run.runId}`);
      await records.write([before]);
      const stopped = {
        ...recordOf(direct(`stopped-${run.runId}`)),
        ...run,
        closedAt: later,
        stopped: true,
        indexed: { ...before.indexed, status: 'REVIEW' as const },
      };
      await expect(records.missing([stopped], 0)).resolves.toEqual([]);
      await records.write([stopped]);
      expect(await records.find(before.id)).toMatchObject({
        runId: 'run-2',
        closedAt: before.closedAt,
        indexed: { status: 'FAILED' },
      });
    });
  });

  it('keep what was paid when another payment, made in their absence, has its id', async () => {
    const paid = recordOf(direct('old'));
    await records.write([paid]);
    const again = recordOf({ ...direct('old'), amount: 700 }, { runId: 'run-2' }, NOON + 40 * 86_400_000);
    const later = { ...again, startedAt: NOON + 40 * 86_400_000 };
    await expect(records.missing([later], 0)).resolves.toEqual([]);
    await records.write([later]);
    expect(await records.find(paid.id)).toMatchObject({ runId: 'run-1', indexed: { amount: 5_000 } });
    // What was never paid has nothing to keep.
    const expired = recordOf(direct('unpaid'));
    const { indexed } = expired;
    await records.write([{ ...expired, indexed: { ...indexed, status: 'EXPIRED' } }]);
    const link = recordOf({ ...direct('unpaid'), amount: 700 }, { runId: 'run-2' }, NOON + 86_400_000);
    await expect(records.missing([link], 0)).resolves.toEqual([link]);
    await records.write([link]);
    expect(await records.find(link.id)).toMatchObject({ runId: 'run-2', indexed: link.indexed });
  });

  it('know of a payment that could not be read, and take its content later', async () => {
    const record = recordOf(direct('unread'));
    await records.write([{ ...record, content: undefined }]);
    await expect(records.has(record.id)).resolves.toBe(true);
    expect((await records.find(record.id))?.content).toBeUndefined();
    await expect(records.missing([record], 0)).resolves.toEqual([]);
    await expect(records.missing([record], Date.now() + 60_000)).resolves.toEqual([record]);
    await records.write([record]);
    await records.write([{ ...record, content: undefined }]);
    expect((await records.find(record.id))?.content?.payment.status).toBe('SUCCESSFUL');
  });

  it('list payments newest first, each once over all pages', async () => {
    const own = (name: string, at: number) => recordOf(direct(name), { merchant: 'lister' }, at);
    await records.write([own('b', NOON), own('a', NOON), own('c', NOON + 1), own('d', NOON - 1)]);
    const first = await records.list({ merchant: 'lister' }, 2);
    expect(first.map(({ id }) => id)).toEqual(['col_c', 'col_a']);
    const after = { createdAt: NOON, id: 'col_a' as PaymentId };
    const second = await records.list({ merchant: 'lister', after }, 10);
    expect(second.map(({ id }) => id)).toEqual(['col_b', 'col_d']);
    const found = await records.list({ merchant: 'lister', externalId: 'order-c', status: 'SUCCESSFUL' }, 10);
    expect(found.map(({ id }) => id)).toEqual(['col_c']);
    await expect(records.list({ merchant: 'lister', status: 'REVIEW' }, 10)).resolves.toEqual([]);
  });

  it('list payments oldest first, too, each once over all pages', async () => {
    const own = (name: string, at: number) => recordOf(direct(name), { merchant: 'elder' }, at);
    await records.write([own('ob', NOON), own('oa', NOON), own('oc', NOON + 1), own('od', NOON - 1)]);
    const filter = { merchant: 'elder', order: 'oldest first' } as const;
    const first = await records.list(filter, 2);
    expect(first.map(({ id }) => id)).toEqual(['col_od', 'col_oa']);
    const after = { createdAt: NOON, id: 'col_oa' as PaymentId };
    const second = await records.list({ ...filter, after }, 10);
    expect(second.map(({ id }) => id)).toEqual(['col_ob', 'col_oc']);
  });

  it("find payments by the mobile operator's reference, also once their payer was erased", async () => {
    const erasable = { ...direct('ref-1'), phone: '677000777', email: 'ref@example.org' };
    await records.write([
      withReference(recordOf(erasable), 'MP241122.1501.C04711'),
      withReference(recordOf(direct('ref-2'), { merchant: 'rival' }), 'MP241122.1501.C04711'),
      recordOf(direct('ref-3')),
    ]);
    const found = async (filter: Parameters<Records['list']>[0]) =>
      (await records.list({ financialTransId: 'MP241122.1501.C04711', ...filter }, 10)).map(({ id }) => id);
    expect(await found({})).toEqual(['col_ref-1', 'col_ref-2']);
    expect(await found({ merchant: 'shop' })).toEqual(['col_ref-1']);
    expect(await found({ merchant: 'shop', status: 'FAILED' })).toEqual([]);
    expect(await found({ financialTransId: 'mp241122.1501.c04711' })).toEqual([]);
    await expect(erase(records, '677000777')).resolves.toEqual(['col_ref-1']);
    expect(await found({ merchant: 'shop' })).toEqual(['col_ref-1']);
    // Recorded again, of a payer whose data is gone.
    const again = { ...recordOf(erasable), runId: 'run-2', startedAt: NOON + 1 };
    await records.write([withReference(again, 'MP241122.1501.C04712')]);
    expect(await found({ merchant: 'shop' })).toEqual([]);
    expect(await found({ financialTransId: 'MP241122.1501.C04712' })).toEqual(['col_ref-1']);
  });

  it.each([
    ['no text', ''],
    ['a space in it', 'MP24 1122'],
    ['a line break in it', 'MP24\n1122'],
    ['other characters than ASCII', 'MP24é'],
    ['no end', 'M'.repeat(201)],
  ])('keep a reference with %s to the content', async (_, reference) => {
    const record = withReference(recordOf(direct(`odd-${reference.length}`)), reference);
    await records.write([record]);
    await expect(records.list({ financialTransId: reference }, 10)).resolves.toEqual([]);
    expect((await records.find(record.id))?.content?.payment.financialTransId).toBe(reference);
  });

  it('list events by merchant, type and time, after a position', async () => {
    const own = (name: string, at: number) => recordOf(direct(name), { merchant: 'reader' }, at);
    await records.write([own('e1', NOON), own('e2', NOON + 3_600_000)]);
    const all = await records.events({ merchant: 'reader', after: 0 }, 10);
    expect(all.map(({ paymentId }) => paymentId)).toEqual(['col_e1', 'col_e2']);
    const rest = await records.events({ merchant: 'reader', after: all[0]?.position ?? 0 }, 10);
    expect(rest).toEqual(all.slice(1));
    const since = await records.events({ merchant: 'reader', after: 0, since: NOON + 3_600_000 }, 10);
    expect(since).toEqual(all.slice(1));
    await expect(records.events({ merchant: 'reader', after: 0, type: 'payment.failed' }, 10)).resolves.toEqual([]);
    await expect(records.events({ merchant: 'nobody', after: 0 }, 10)).resolves.toEqual([]);
  });

  it('list all events since a time, though recorded in another order', async () => {
    const empty = await server.create('hours');
    const timed = Records.open(empty, encryptedBy(key), logger);
    await timed.migrate();
    const client = new pg.Client(empty);
    await client.connect();
    // Hours from noon, in the order in which they are recorded: some come late, and some hours have none.
    const all = [2, 0.5, 3.2, 1, 3.1, 7, 6.5, 8, 7.9, 8.1, 1.5, 11];
    const at = (hours: number) => new Date(NOON + hours * 3_600_000);
    await client.query(
      `INSERT INTO payments (id, merchant, kind, status, final, amount, created_at, run_id, run_started_at, stopped, recorded_at)
       VALUES ('col_hours', 'shop', 'collection', 'SUCCESSFUL', true, 500, now(), 'run', now(), false, now())`,
    );
    for (const hours of all) {
      await client.query('INSERT INTO events (id, payment_id, merchant, type, at) VALUES ($1, $2, $3, $4, $5)', [
        ...[`evt_${hours}`, 'col_hours', 'shop', 'payment.succeeded', at(hours)],
      ]);
    }
    for (const since of [-1, ...all, ...all.map((hours) => hours + 0.01)]) {
      const events = await timed.events({ after: 0, since: at(since).getTime() }, 100);
      expect([since, events.map(({ id }) => id)]).toEqual([
        since,
        all.filter((hours) => hours >= since).map((hours) => `evt_${hours}`),
      ]);
    }
    await timed.close();
    await client.end();
  });

  it('give one recorder at a time the lease', async () => {
    await expect(records.lease('first', 60_000)).resolves.toEqual({ recordedUntil: undefined });
    await expect(records.lease('second', 60_000)).resolves.toBeUndefined();
    await expect(records.lease('first', 0)).resolves.toBeDefined();
    await expect(records.lease('second', 60_000)).resolves.toBeDefined();
    await records.advance(NOON);
    await records.advance(NOON - 1);
    await expect(records.recorderState()).resolves.toEqual({ recordedUntil: NOON });
    await records.release('second');
    await expect(records.lease('first', 60_000)).resolves.toEqual({ recordedUntil: NOON });
  });

  describe('of a payer whose data was erased', () => {
    const linkOf = (name: string): LinkOrder => {
      const { phone: _, medium: __, name: ___, ...order } = direct(name);
      return { ...order, kind: 'link', email: 'lea@example.org' };
    };
    const byPhone = (name: string) => ({ ...direct(name), phone: '677000999', email: 'lea@example.org' });

    it('have what was paid, and nothing of who', async () => {
      await records.write([recordOf(byPhone('erased')), recordOf(direct('kept'))]);
      await expect(erase(records, '677000999')).resolves.toEqual(['col_erased']);
      const erased = await records.find('col_erased' as PaymentId);
      expect(erased).toMatchObject({
        isErased: true,
        indexed: { amount: 5_000, externalId: 'order-erased', userId: undefined },
      });
      const text = JSON.stringify(erased);
      for (const word of ['677000999', '999', 'Jane', 'lea@', 'tickets', 'customer-7', 'digest-of']) {
        expect(text).not.toContain(word);
      }
      expect((await records.find('col_kept' as PaymentId))?.content?.payment.message).toBe('Two tickets');
      await expect(records.events({ after: 0 }, 1_000)).resolves.toContainEqual(
        expect.objectContaining({ id: 'evt_col_erased_succeeded_1' }),
      );
    });

    it('are listed before, with their merchants, and are erased only as they were listed', async () => {
      const payer = '677000321';
      const [own, open] = [recordOf({ ...direct('own'), phone: payer }), recordOf({ ...direct('open'), phone: payer })];
      const rivals = recordOf({ ...direct('rivals'), phone: payer }, { merchant: 'rival' }, NOON - 1);
      await records.write([own, rivals, { ...open, closedAt: undefined }]);
      const { payments, confirmation } = await records.payerData.preview({ payer });
      expect(payments.map(({ id, merchant, closedAt }) => [id, merchant, closedAt === undefined])).toEqual([
        ['col_rivals', 'rival', false],
        ['col_open', 'shop', true],
        ['col_own', 'shop', false],
      ]);
      expect(confirmation).toMatch(/^3-[0-9a-f]{16}$/);
      expect((await records.find('col_own' as PaymentId))?.isErased).toBe(false);

      await records.write([recordOf({ ...direct('since'), phone: payer })]);
      const refused = expect.objectContaining({ name: 'OtherErasureError', message: expect.stringContaining('the 4') });
      await expect(records.payerData.erase({ payer }, REASON, confirmation)).rejects.toEqual(refused);
      const ofRival = await records.payerData.preview({ payer, merchant: 'rival' });
      await expect(records.payerData.erase({ payer }, REASON, ofRival.confirmation)).rejects.toThrow(/^Nothing was/);
      const other = { payer: '677000322' };
      await expect(records.payerData.erase(other, REASON, confirmation)).rejects.toThrow(/^Nothing was erased/);
      for (const { id } of payments) expect((await records.find(id))?.isErased).toBe(false);
      await expect(records.payerData.requests(payer)).resolves.toEqual([]);

      const now = await records.payerData.preview({ payer });
      await expect(records.payerData.erase({ payer }, REASON, now.confirmation)).resolves.toHaveLength(4);
      await expect(records.payerData.preview({ payer })).resolves.toMatchObject({ payments: [] });
    });

    it('are those of one merchant, where it is named, also later', async () => {
      const payer = '677000432';
      const ofShop = (name: string) => recordOf({ ...direct(name), phone: payer });
      const ofRival = (name: string) => recordOf({ ...direct(name), phone: payer }, { merchant: 'rival' });
      await records.write([ofShop('shops'), ofRival('theirs')]);
      await expect(erase(records, payer, 'rival')).resolves.toEqual(['col_theirs']);
      await records.write([ofShop('shops-2'), ofRival('theirs-2')]);
      const erased = await Promise.all(
        ['shops', 'theirs', 'shops-2', 'theirs-2'].map((name) => records.find(`col_${name}` as PaymentId)),
      );
      expect(erased.map((record) => record?.isErased)).toEqual([false, true, false, true]);
    });

    it('are shown whole before, and the request is kept, as the erasure is, with who asked and why', async () => {
      const payer = '677000543';
      await records.write([recordOf({ ...direct('shown'), phone: payer }), recordOf(direct('not-shown'))]);
      const shown = await records.payerData.export({ payer }, { by: 'bob', why: 'letter of the payer' });
      expect(shown).toMatchObject({
        payer,
        payments: [
          {
            merchant: 'shop',
            payment: { id: 'col_shown', amount: 5_000, status: 'SUCCESSFUL' },
            order: { phone: payer, name: 'Jane Payer', email: 'Jane@example.org', message: 'Two tickets' },
            notifications: [{ id: 'evt_col_shown_succeeded_1', type: 'payment.succeeded' }],
          },
        ],
        requests: [],
      });
      await erase(records, payer, 'shop');
      const [first, second] = await records.payerData.requests(payer);
      expect(first).toMatchObject({ kind: 'export', payments: 1, reason: { by: 'bob', why: 'letter of the payer' } });
      expect(second).toMatchObject({ kind: 'erase', payments: 1, merchant: 'shop', reason: REASON });
      expect(second?.payer).toBe(first?.payer);
      expect(second?.at).toBeGreaterThan(Date.now() - 60_000);
      expect(JSON.stringify([first, second])).not.toContain(payer);
      const after = await records.payerData.export({ payer }, REASON);
      expect(after).toMatchObject({ payments: [], requests: [{ kind: 'export' }, { kind: 'erase', payments: 1 }] });
      expect((await records.payerData.requests()).length).toBeGreaterThan(2);
      const keyless = Records.open(url, encryptedBy(freshKey('unknown')), logger);
      expect((await keyless.payerData.requests()).map(({ reason }) => reason)).toContain(undefined);
      await keyless.close();
    });

    it('are read fifty at a time, however many there are', async () => {
      const many = Array.from({ length: 205 }, (_, index) => ({
        ...direct(`many-${String(index).padStart(3, '0')}`),
        phone: '677000555',
        metadata: { cart: 'x'.repeat(10_000) },
      }));
      for (let first = 0; first < many.length; first += 20)
        await records.write(many.slice(first, first + 20).map((order) => recordOf(order)));
      const query = jest.spyOn(pg.Client.prototype, 'query');
      try {
        const payments = await erase(records, '677000555');
        expect([...payments].sort()).toEqual(many.map(({ id }) => id));
        const answers = (await Promise.all(query.mock.results.map(({ value }) => value))) as {
          rows?: unknown[];
        }[];
        const whole = answers.map(
          (answer) => (answer?.rows ?? []).filter((row) => 'content' in (row as object)).length,
        );
        expect(Math.max(...whole)).toBe(50);
      } finally {
        query.mockRestore();
      }
      expect(JSON.stringify(await records.find('col_many-204' as PaymentId))).not.toContain('xxx');
    });

    it("stay erased when the payment is recorded again, together with somebody else's", async () => {
      const again = { ...recordOf(byPhone('erased')), runId: 'run-2', startedAt: NOON + 1 };
      await records.write([recordOf(direct('beside')), again, recordOf(byPhone('forgotten'))]);
      const beside = await records.find('col_beside' as PaymentId);
      expect(beside).toMatchObject({ isErased: false, content: { payment: { message: 'Two tickets' } } });
      await expect(records.find('col_forgotten' as PaymentId)).resolves.toMatchObject({ isErased: true });
      const found = await records.find('col_erased' as PaymentId);
      expect(found?.runId).toBe('run-2');
      expect(JSON.stringify(found)).not.toContain('677000999');
    });

    it('are found by an e-mail address, too, and by keys that were changed since', async () => {
      await records.write([recordOf(linkOf('link'))]);
      const later = Records.open(url, encryptedBy(freshKey('two'), key), logger);
      await expect(erase(later, 'lea@example.org')).resolves.toEqual(['col_link']);
      // What was created before the erasure and ends after it.
      await later.write([recordOf(linkOf('link-2'))]);
      expect(JSON.stringify(await later.find('col_link-2' as PaymentId))).not.toContain('lea@');
      await later.write([recordOf(linkOf('new'), {}, Date.now() + 60_000)]);
      expect(JSON.stringify(await later.find('col_new' as PaymentId))).toContain('lea@');
      await later.close();
    });

    it('are not erased in part while a key is missing that some of them can only be found with', async () => {
      const third = freshKey('three');
      const later = Records.open(url, encryptedBy(third, freshKey('two'), key), logger);
      await later.write([recordOf({ ...direct('by-three'), phone: '677000888' })]);
      await later.close();
      await records.write([recordOf({ ...direct('by-one'), phone: '677000888' })]);
      const refused = expect.objectContaining({
        name: 'MissingKeyError',
        message: expect.stringMatching(/^Nothing was done: .*"three".* ENCRYPTION_KEYS/),
      });
      await expect(erase(records, '677000888')).rejects.toEqual(refused);
      for (const name of ['by-one', 'by-three']) {
        expect(await records.find(`col_${name}` as PaymentId)).toMatchObject({ isErased: false });
      }
    });
  });

  it('are unread, and not lost, without the key', async () => {
    await records.write([recordOf(direct('locked'))]);
    const keyless = Records.open(url, encryptedBy(freshKey('other')), logger);
    await expect(keyless.has('col_locked' as PaymentId)).resolves.toBe(true);
    expect((await keyless.find('col_locked' as PaymentId))?.content).toBeUndefined();
    await keyless.close();
  });

  it('answer many at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    await records.write(names.map((name) => recordOf(direct(name))));
    const more = ['more-1', 'more-2'].map((name) => records.write([recordOf(direct(name))]));
    const found = await Promise.all(names.map((name) => records.find(`col_${name}` as PaymentId)));
    expect(found.map((record) => record?.id)).toEqual(names.map((name) => `col_${name}`));
    await Promise.all(more);
  });
});

describe('records in a PostgreSQL with much to do', () => {
  let server: RecordsServer;
  let url: string;
  let records: Records;

  beforeAll(async () => {
    server = await startPostgreSQL();
    url = await server.create('busy');
    records = Records.open(url, encryptedBy(key), logger);
    await records.migrate();
  });
  afterAll(async () => {
    await records.close();
    await server.stop();
  });

  /** Runs statements on a connection of their own. */
  async function connected<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  }

  it('leave nothing behind that it goes on with, when nobody waits for the answer any more', async () => {
    await connected(async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE payments IN ACCESS EXCLUSIVE MODE');
      const away = expect.objectContaining({ name: 'RecordsUnavailableError' });
      await expect(records.list({ userId: 'customer-7' }, 10)).rejects.toEqual(away);
      const working = () =>
        connected(async (observer) => {
          const { rows } = await observer.query(
            "SELECT query FROM pg_stat_activity WHERE application_name = 'sanaga' AND state = 'active'",
          );
          return rows;
        });
      await expect(eventually(working, ({ length }) => length === 0)).resolves.toEqual([]);
    });
  });

  describe('and with 200,000 payments', () => {
    /** The payments with these numbers were created in this order, ten seconds apart. */
    const place = (number: number) => ({
      createdAt: NOON + number * 10_000,
      id: `col_${number}` as PaymentId,
    });

    beforeAll(async () => {
      await connected(async (client) => {
        await client.query(`
          INSERT INTO payments (id, merchant, kind, status, final, amount, trans_id, financial_trans_id, external_id, user_id,
            created_at, run_id, run_started_at, closed_at, stopped, recorded_at)
          SELECT 'col_' || n, 'merchant-' || n % 20, CASE WHEN n % 20 < 15 THEN 'collection' ELSE 'payout' END,
            CASE WHEN n % 20000 = 7 THEN 'REVIEW' WHEN n % 10 = 3 THEN 'FAILED' WHEN n % 10 = 4 THEN 'EXPIRED' ELSE 'SUCCESSFUL' END,
            true, 500, 'transaction-' || n, 'reference-' || n, 'order-' || n, CASE WHEN n % 5 = 0 THEN 'user-' || n % 7000 END,
            at, 'run', at, at, false, now()
            FROM generate_series(1, 200000) AS n,
              LATERAL (SELECT '2026-11-22T12:00:00Z'::timestamptz + n * interval '10 seconds' AS at) AS time`);
        await client.query(`
          INSERT INTO events (id, payment_id, merchant, type, at)
          SELECT 'evt_' || id, id, merchant, 'payment.succeeded', closed_at FROM payments
            WHERE status = 'SUCCESSFUL' AND user_id IS NOT NULL ORDER BY closed_at`);
        await client.query('ANALYZE');
      });
    });

    /**
     * Counts the rows of payments and events that the server has read. It counts those of a connection when that ends.
     */
    async function rowsRead(): Promise<number> {
      const read = () =>
        connected(async (client) => {
          const { rows } = await client.query(
            `SELECT (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sanaga') AS connected,
               (SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE relname IN ('payments', 'events')) AS read`,
          );
          return { connected: Number(rows[0].connected), read: Number(rows[0].read) };
        });
      await records.close();
      const { read: count } = await eventually(read, (state) => state.connected === 0);
      records = Records.open(url, encryptedBy(key), logger);
      return count;
    }

    it.each<[string, Parameters<Records['list']>[0], number]>([
      ['the payments in REVIEW', { status: 'REVIEW' }, 10],
      ["a merchant's in REVIEW", { status: 'REVIEW', merchant: 'merchant-7' }, 10],
      ['the payouts in REVIEW', { status: 'REVIEW', kind: 'payout' }, 0],
      ['the payments that are PENDING', { status: 'PENDING' }, 0],
      ['the payments that are not final', { final: false }, 0],
      ["a merchant's that are not final", { final: false, merchant: 'merchant-5' }, 0],
      ["a customer's", { userId: 'user-5' }, 20],
      ["a merchant's customer's", { userId: 'user-5', merchant: 'merchant-5' }, 20],
      ["a customer's whom nobody knows", { userId: 'nobody' }, 0],
      ['the payouts of a merchant who makes none', { merchant: 'merchant-3', kind: 'payout' }, 0],
      ['a status that a merchant never has', { merchant: 'merchant-5', status: 'EXPIRED' }, 0],
      ['a page far from the first', { after: place(1_000) }, 20],
      ["a merchant's page far from the first", { after: place(1_003), merchant: 'merchant-3' }, 20],
      ['an order', { externalId: 'order-17' }, 1],
      ['a transaction', { transId: 'transaction-17' }, 1],
      ["an operator's reference", { financialTransId: 'reference-17' }, 1],
      ['a day', { createdFrom: NOON + 86_400_000, createdBefore: NOON + 2 * 86_400_000 }, 20],
    ])('read no more than they list: %s', async (_, filter, count) => {
      const before = await rowsRead();
      await expect(records.list(filter, 20)).resolves.toHaveLength(count);
      expect((await rowsRead()) - before).toBeLessThan(200);
    });

    it.each<[string, string | undefined]>([
      ["everybody's", undefined],
      ["a merchant's", 'merchant-5'],
    ])('read no more than they list: %s events since a time', async (_, merchant) => {
      const before = await rowsRead();
      const since = place(199_000).createdAt;
      const events = await records.events({ merchant, since, after: 0 }, 20);
      expect(events).toHaveLength(20);
      expect(events.every(({ at }) => at >= since)).toBe(true);
      expect((await rowsRead()) - before).toBeLessThan(1_000);
    });
  });
});

describe('records whose database takes connections and answers nothing', () => {
  let hanging: Awaited<ReturnType<typeof startHanging>>;
  beforeAll(async () => {
    hanging = await startHanging();
  });
  afterAll(() => hanging.stop());

  it('say so, and keep nobody waiting for a key while somebody else asks whether they are back', async () => {
    const records = Records.open(`postgres://nobody@127.0.0.1:${hanging.port}/none`, encryptedBy(key), logger);
    const away = expect.objectContaining({ name: 'RecordsUnavailableError' });
    const has = () => records.has('col_one' as PaymentId);
    await expect(has()).rejects.toEqual(away);
    let isProbing = true;
    const probe = has().finally(() => {
      isProbing = false;
    });
    for (let times = 0; times < 50; times++) await expect(has()).rejects.toEqual(away);
    expect(isProbing).toBe(true);
    await expect(probe).rejects.toEqual(away);
    await expect(records.write([recordOf(direct('one'))])).rejects.toEqual(away);
    await expect(records.list({}, 1)).rejects.toEqual(away);
    await records.close();
  });
});

describe('records whose database is away', () => {
  it('say so', async () => {
    const records = Records.open('postgres://nobody@127.0.0.1:1/none', encryptedBy(key), logger);
    await expect(records.has('col_one' as PaymentId)).rejects.toMatchObject({
      name: 'RecordsUnavailableError',
    });
    await expect(records.migrate()).rejects.toMatchObject({ name: 'RecordsUnavailableError' });
    await records.close();
  });
});
