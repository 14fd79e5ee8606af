import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { statementCsv } from '../../../src/api/routes/statement-csv.js';
import { statementJson } from '../../../src/api/routes/statement-json.js';
import type { Statements } from '../../../src/book/statements.js';
import type { PaymentId } from '../../../src/payments/words/payment-id.js';
import { type Statement, toStatement } from '../../../src/reconciliation/statement.js';
import { type ApiUnderTest, KEYS, startApi } from '../../support/api-under-test.js';
import { countTurns } from '../../support/turns.js';

const line = {
  id: 'col_1' as PaymentId,
  merchant: 'shop',
  kind: 'collection',
  status: 'SUCCESSFUL',
  final: true,
  amount: 1_200,
  externalId: 'order "1"',
  createdAt: '2026-11-21T10:00:00.000Z',
  compared: true,
} as const;

const statementOf = (payments: number): Statement =>
  toStatement({
    date: '2026-11-21',
    version: 1,
    madeAt: Date.parse('2026-11-22T02:00:00Z'),
    payments: Array.from({ length: payments }, () => line),
    differences: Array.from({ length: payments }, () => ({
      kind: 'in_review' as const,
      service: 'collection' as const,
      text: 'a "person" decides',
      handling: 'under_review' as const,
    })),
    gaps: { collection: [], payout: [] },
    balances: { collection: {}, payout: {} },
    cutOff: false,
  });

describe('a statement as JSON', () => {
  it.each([0, 1, 250, 251, 1_000])('says of %d payments what it has', async (payments) => {
    const statement = statementOf(payments);
    let text = '';
    for await (const piece of statementJson(statement)) text += piece;
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ object: 'statement', ...statement })));
  });

  it('of 50,000 payments is made in small pieces, between which others have their turn', async () => {
    const turns = countTurns();
    let largest = 0;
    for await (const piece of statementJson(statementOf(50_000))) largest = Math.max(largest, piece.length);
    const taken = turns();
    expect(largest).toBeLessThan(128 * 1024);
    expect(taken).toBeGreaterThanOrEqual(100_000 / 250);
  });
});

describe('a statement that is being sent', () => {
  let api: ApiUnderTest;
  afterEach(() => api.stop());

  /** An API with a statement of many payments, which counts how many of them were read. */
  async function start(concurrent: number) {
    const whole = statementOf(50_000);
    const read = { payments: 0 };
    const payments = new Proxy([...whole.payments], {
      get(list, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) read.payments = Math.max(read.payments, Number(name));
        return Reflect.get(list, name, receiver);
      },
    });
    const large = { date: 'x'.repeat(32_000_000), version: 1, madeAt: '', complete: true };
    const list = async () => [{ ...large, payments: 0, differences: 0 }];
    const statements = { find: async () => ({ ...whole, payments }), list } as unknown as Statements;
    const allowance = { perMinute: 1_000, concurrent, active: 1, failures: 5 };
    api = await startApi({ statements, allowance });
    return read;
  }

  /** Asks for the statement, and reads no more than the beginning of the answer. */
  async function beginning(accept: string, path = '/v1/statements/2026-11-21') {
    const socket = connect(api.serving.port, '127.0.0.1').on('error', () => undefined);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEYS.operator}\r\nAccept: ${accept}\r\n\r\n`,
    );
    await new Promise<void>((resolve) => socket.once('data', () => resolve()));
    socket.pause();
    return socket;
  }

  it.each(['application/json', 'text/csv'])(
    'is made no faster than its caller takes it, and no further when he has gone: %s',
    async (accept) => {
      const read = await start(1);
      const socket = await beginning(accept);
      // His one request is in progress for as long as he hasn't taken its answer.
      expect((await api.ask('GET', '/v1/key', { key: KEYS.operator })).status).toBe(429);
      expect(read.payments).toBeLessThan(40_000);
      socket.destroy();
      for (;;) {
        const { status } = await api.ask('GET', '/v1/key', { key: KEYS.operator });
        if (status === 200) break;
      }
      expect(read.payments).toBeLessThan(40_000);
      expect(api.lines.filter((text) => JSON.parse(text).level >= 50)).toEqual([]);
    },
  );

  it('is given up when its caller takes nothing of it for 20 s, though he stays', async () => {
    const read = await start(1);
    const socket = await beginning('application/json');
    for (;;) {
      const { status } = await api.ask('GET', '/v1/key', { key: KEYS.operator });
      if (status === 200) break;
      await pause(500);
    }
    expect(read.payments).toBeLessThan(40_000);
    socket.destroy();
  });

  it('is in progress until it was taken, as any other large answer is', async () => {
    await start(1);
    const socket = await beginning('application/json', '/v1/statements');
    expect((await api.ask('GET', '/v1/key', { key: KEYS.operator })).status).toBe(429);
    socket.destroy();
    for (;;) {
      const { status } = await api.ask('GET', '/v1/key', { key: KEYS.operator });
      if (status === 200) break;
    }
  });

  it('keeps nobody waiting, however many are', async () => {
    await start(20);
    const sockets = await Promise.all(Array.from({ length: 10 }, () => beginning('application/json')));
    expect((await api.ask('GET', '/healthz')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('is whole when it has arrived', async () => {
    await start(1);
    const { status, body, text } = await api.ask('GET', '/v1/statements/2026-11-21', { key: KEYS.operator });
    expect(status).toBe(200);
    expect(body.payments).toHaveLength(50_000);
    let csv = '';
    for await (const piece of statementCsv(statementOf(1), true)) csv += piece;
    expect(csv.length).toBeLessThan(text.length);
  });
});
