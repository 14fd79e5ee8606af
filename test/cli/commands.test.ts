import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { Hold, Payment } from '../../client/index.js';
import { CSV_COLUMNS } from '../../src/api/routes/payment-csv.js';
import { keptSecrets, keptWebhookSecret, settingsToTell } from '../../stack/processes/settings.js';
import { noteRunning, STATE_FOLDER } from '../../stack/start/state-folder.js';
import { built, runToEnd } from '../support/built.js';
import { closeServers, type HttpServer, type Seen, serveHttp } from '../support/local-servers.js';

afterEach(closeServers);

const payment: Payment = {
  id: 'pay_1',
  object: 'payment',
  kind: 'payout',
  status: 'CREATED',
  final: false,
  amount: 43_000,
  currency: 'XAF',
  externalId: 'refund-77',
  metadata: { cart: '7' },
  createdAt: '2026-11-21T08:20:32.843Z',
  updatedAt: '2026-11-21T08:20:32.843Z',
};
const paid: Payment = { ...payment, status: 'SUCCESSFUL', final: true };
const failed: Payment = { ...payment, status: 'FAILED', final: true, reason: 'The payment was declined' };
const inReview: Payment = {
  ...payment,
  status: 'REVIEW',
  reason: 'not found in time',
  review: { number: 2, since: '2026-11-21T08:20:32.843Z', decideFrom: '2026-11-21T09:20:32.843Z' },
};

const held: Payment = {
  ...payment,
  orderedBy: 'ann',
  phone: '•••• 205',
  held: {
    for: ['approval'],
    since: '2026-11-21T08:20:32.843Z',
    until: '2026-11-28T08:20:32.843Z',
    name: 'Ngono Marie',
    approvals: [],
    digest: 'd'.repeat(64),
  },
};

const serve = (answer: (request: Seen, count: number) => readonly [number, unknown]) =>
  serveHttp((response, request, count) => {
    const [status, body] = answer(request, count);
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(JSON.stringify(body));
  });
const problem = (status: number, code: string, extras: object = {}) =>
  [status, { code, detail: `Because of ${code}.`, requestId: 'req-1', ...extras }] as const;

const sanaga = (server: HttpServer | undefined, ...args: readonly string[]) =>
  runToEnd('build/cli/main.js', args, {
    ...(server && { SANAGA_URL: server.url, SANAGA_API_KEY: 'sk_test' }),
    PATH: process.env.PATH,
    TZ: 'UTC',
  });
const page = (...data: readonly Payment[]) => [200, { data, unreadable: [] }] as const;

describe('what somebody else has written', () => {
  // Clears the line and writes over it, sets the terminal's title, hides what follows, and turns its direction.
  const EVIL = 'a\u001b[2K\rb\u001b]0;title\u0007c\u001b[8md\ne\u009b2Jf\u202eg';
  const SHOWN = 'a\ufffd[2K\ufffdb\ufffd]0;title\ufffdc\ufffd[8md\ufffde\ufffd2Jf\ufffdg';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what nobody may print
  const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/;
  const evil = { ...inReview, externalId: EVIL, reason: EVIL, merchant: EVIL, metadata: { [EVIL]: EVIL } };

  it.each([
    ['a payment', ['get', 'pay_1'], 200, evil],
    ['a list', ['list'], 200, { data: [evil], unreadable: [] }],
    ['a decision', ['review', 'fail', 'pay_1', '--number', '2', '--why', 'x', '--yes'], 200, evil],
    [
      'an error',
      ['get', 'pay_1'],
      404,
      { code: EVIL, detail: EVIL, requestId: EVIL, errors: [{ field: EVIL, message: EVIL }] },
    ],
  ] as const)('is shown in one line, and nothing of it is obeyed: in %s', async (_, args, status, body) => {
    const server = await serve(() => [status, body]);
    const { stdout, stderr } = await sanaga(server, ...args);
    expect(`${stdout}${stderr}`).not.toMatch(OBEYED);
    expect(`${stdout}${stderr}`).toContain(SHOWN);
  });

  it.each([
    ['a payment', 200, evil, 'stdout'],
    ['an error', 404, { code: EVIL, detail: EVIL, requestId: EVIL }, 'stderr'],
  ] as const)('is the same with --json, as escapes: in %s', async (_, status, body, stream) => {
    const server = await serve(() => [status, body]);
    const printed = (await sanaga(server, 'get', 'pay_1', '--json'))[stream];
    expect(printed).not.toMatch(OBEYED);
    expect(JSON.parse(printed)).toMatchObject(status === 200 ? evil : { message: expect.stringContaining(EVIL) });
  });

  it('is nothing that an argument could be', async () => {
    const { stderr } = await sanaga(undefined, 'get', `--${EVIL}`);
    expect(stderr).not.toMatch(OBEYED);
  });
});

describe('sanaga collect', () => {
  it('makes a link, and tells its key', async () => {
    const server = await serve(() => [
      201,
      { ...payment, id: 'col_1', kind: 'collection', method: 'link', link: 'http://pay' },
    ]);
    const { code, stdout } = await sanaga(
      server,
      'collect',
      '43,000',
      '--external-id',
      'refund-77',
      '--metadata',
      'cart=7',
    );
    expect(server.seen[0]).toMatchObject({
      path: '/v1/collections',
      headers: { authorization: 'Bearer sk_test' },
      body: JSON.stringify({
        method: 'link',
        amount: 43_000,
        externalId: 'refund-77',
        metadata: { cart: '7' },
      }),
    });
    expect(stdout).toContain('col_1  43,000 XAF  collection by link  CREATED\n');
    expect(stdout).toMatch(/ {2}link +http:\/\/pay\n/);
    expect(stdout).toContain(String(server.seen[0]?.headers['idempotency-key']));
    expect(code).toBe(0);
  });

  it('asks on a phone when one is given', async () => {
    const server = await serve(() => [201, { ...payment, id: 'col_1' }]);
    await sanaga(server, 'collect', '500', '--phone', '677 000 000');
    expect(server.seen[0]?.body).toBe(JSON.stringify({ method: 'direct', amount: 500, phone: '677 000 000' }));
  });

  it.each([
    ['collect'],
    ['collect', '5.000'],
    ['collect', '1,00'],
    ['collect', '-5'],
    ['collect', '500', '--phone', '677000000', '--expires-in', '1h'],
    ['collect', '500', '--medium', 'orange money'],
    ['collect', '500', '--wait', 'long'],
    ['collect', '500', '--metadata', 'cart'],
    ['collect', '500', '--idempotency-key', ''],
    ['payout', '500', '--idempotency-key', ''],
    ['payout', '500', '--idempotency-key', 'é'],
    ['get', ''],
    ['expire', 'pay_1'],
    ['cancel', 'col_1'],
    ['balance', 'shop'],
  ])('sends nothing when the command line is wrong: %p %p %p', async (...args) => {
    const server = await serve(() => [201, payment]);
    const { code, stdout, stderr } = await sanaga(server, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^sanaga: /);
    expect(server.seen).toEqual([]);
  });
});

describe('sanaga payout', () => {
  it.each([
    ['has succeeded', paid, 0],
    ['has failed', failed, 1],
  ])('tells by its exit code that the payment %s, once it has waited', async (_, outcome, expected) => {
    const server = await serve((_, count) => (count === 1 ? [201, payment] : [200, outcome]));
    const args = ['payout', '43000', '--phone', '677000000', '--wait', '--json', '--idempotency-key', 'refund-77'];
    const { code, stdout } = await sanaga(server, ...args);
    expect(JSON.parse(stdout)).toEqual({ ...outcome, idempotencyKey: 'refund-77' });
    expect(code).toBe(expected);
  });

  it.each([
    ['has failed', failed, 1, 'The payment is FAILED (The payment was declined): no money moves by it any more.'],
    ['has expired', { ...failed, status: 'EXPIRED', reason: undefined } as const, 1, 'The payment is EXPIRED: '],
    ['is under review', inReview, 3, 'under review (not found in time): its money may have moved. Wait'],
    ['has succeeded', paid, 0, ''],
    ['is under way', payment, 0, ''],
  ])('tells by its exit code that the payment of an earlier command %s', async (_, earlier, expected, words) => {
    const server = await serve(() => [200, earlier]);
    const args = ['payout', '43000', '--phone', '677000000', '--idempotency-key', 'wage-7'];
    const { code, stderr } = await sanaga(server, ...args);
    expect(stderr).toContain(words);
    expect(code).toBe(expected);
    const json = await sanaga(server, ...args, '--json');
    expect([json.code, json.stderr]).toEqual([expected, '']);
  });

  it('asks for an approval and a date, and says how the payout is approved', async () => {
    const server = await serve(() => [201, held]);
    const at = '2026-12-24T08:00:00+01:00';
    const args = ['payout', '43000', '--phone', '677000000', '--approval', '--send-at', at];
    const { code, stdout, stderr } = await sanaga(server, ...args);
    expect(JSON.parse(server.seen[0]?.body ?? '')).toMatchObject({ amount: 43_000, approval: true, sendAt: at });
    expect(stdout).toMatch(/orderedBy +ann/);
    expect(stdout).toMatch(/held\.until +2026-11-28 09:20:32 \(Douala\)/);
    expect(stdout).toMatch(/held\.for +\w+/);
    expect(stdout).not.toMatch(/held\.for\.0|T08:20:32/);
    expect(stderr).toContain('Another person has to approve it: sanaga approve pay_1');
    expect(code).toBe(0);
  });

  it('tells the key to repeat it with when nobody knows whether it was created', async () => {
    const server = await serve(() => problem(503, 'temporarily_unavailable'));
    const { code, stderr } = await sanaga(server, 'payout', '43000', '--phone', '677000000');
    const key = server.seen[0]?.headers['idempotency-key'];
    expect(stderr).toContain(`Run the same command again with --idempotency-key ${key}`);
    expect(code).toBe(3);
  });

  it('says what is wrong with which field', async () => {
    const errors = [{ field: 'amount', message: 'must be at least 100 XAF' }];
    const server = await serve(() => problem(400, 'invalid_request', { errors }));
    const { code, stderr } = await sanaga(server, 'payout', '5');
    expect(stderr).toContain('  <amount> must be at least 100 XAF\n(400 invalid_request, request req-1)');
    expect(code).toBe(2);
  });

  it('calls each field by its option, and for programs by its name', async () => {
    const wrong = ['externalId', 'redirectUrl', 'metadata.cart', 'created[gte]', 'colour'];
    const errors = wrong.map((field) => ({ field, message: 'is wrong' }));
    const server = await serve(() => problem(400, 'invalid_request', { errors }));
    const { stderr } = await sanaga(server, 'payout', '500');
    const named = ['--external-id', '--redirect-url', '--metadata cart', '--since', 'colour'];
    expect(stderr).toContain(named.map((option) => `  ${option} is wrong\n`).join(''));
    expect(JSON.parse((await sanaga(server, 'payout', '500', '--json')).stderr).errors).toEqual(errors);
  });

  it('gives programs its errors as JSON', async () => {
    const server = await serve(() => problem(422, 'rejected_by_provider', { payment: failed }));
    const { code, stdout, stderr } = await sanaga(server, 'payout', '43000', '--json');
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toMatchObject({
      error: 'PaymentRejectedError',
      code: 'rejected_by_provider',
      paymentId: 'pay_1',
    });
    expect(code).toBe(1);
  });
});

describe('sanaga refund', () => {
  const refund: Payment = { ...payment, refundOf: 'col_1', refundReason: 'out of stock' };
  const figures = {
    object: 'refunds',
    collection: 'col_1',
    collected: 50_000,
    refunded: 7_000,
    refunding: 0,
    refundable: 43_000,
    data: [{ ...paid, id: 'pay_0', amount: 7_000, refundOf: 'col_1', refundReason: 'too late' }],
  };
  const asked = (answer: readonly [number, unknown] = [201, refund]) =>
    serve(({ method }) => (method === 'GET' ? [200, figures] : answer));
  const args = ['refund', 'col_1', '--reason', 'out of stock'];

  it('shows the figures before it refunds, and sends what was said', async () => {
    const server = await asked();
    const { code, stdout, stderr } = await sanaga(server, ...args, '--amount', '2,500');
    expect(stderr).toContain(
      'col_1: collected 50,000 XAF, refunded 7,000 XAF, being refunded 0 XAF, refundable 43,000 XAF',
    );
    expect(stderr).toContain('too late');
    expect(stdout).toMatch(/^pay_1 {2}43,000 XAF {2}refund/);
    expect(code).toBe(0);
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/collections/col_1/refunds',
      'POST /v1/collections/col_1/refunds',
    ]);
    expect(JSON.parse(server.seen[1]?.body ?? '')).toEqual({ amount: 2_500, reason: 'out of stock' });
  });

  it('makes one refund of a command that is run again, and another of another command', async () => {
    const server = await asked();
    await sanaga(server, ...args, '--phone', '677 00 00 00');
    await sanaga(server, ...args, '--phone', '+237677000000');
    await sanaga(server, ...args, '--phone', '677000001');
    await sanaga(server, ...args, '--phone', '677000001', '--amount', '500');
    await sanaga(server, ...args, '--phone', '677000001', '--amount', '500', '--idempotency-key', 'another');
    const keys = server.seen.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^refund-[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(4);
    expect(keys[4]).toBe('another');
  });

  it('says beforehand that another number takes an approval, and afterwards that it waits for one', async () => {
    const held = {
      for: ['approval'],
      since: '2026-11-21T08:20:32.843Z',
      until: '2026-11-28T08:20:32.843Z',
      approvals: [],
      digest: 'd',
    };
    const server = await asked([201, { ...refund, held }]);
    const { code, stderr } = await sanaga(server, ...args, '--phone', '677000000');
    expect(stderr).toMatch(/a refund waits for an approval\.\n(.*\n)*.*Nothing was sent yet/);
    expect(code).toBe(0);
  });

  it('is for collections', async () => {
    const server = await asked();
    const { code, stderr } = await sanaga(server, 'refund', 'pay_1', '--reason', 'why');
    expect({ code, seen: server.seen }).toEqual({ code: 2, seen: [] });
    expect(stderr).toContain('pay_1 is a payout');
  });

  it('fails when it is refused', async () => {
    const server = await asked(problem(409, 'not_refundable'));
    const { code, stderr } = await sanaga(server, ...args);
    expect(stderr).toContain('Because of not_refundable.');
    expect(code).toBe(1);
  });
});

describe.each([
  ['expire', '/v1/collections/col_1/expire', { ...payment, id: 'col_1', kind: 'collection' as const }],
  ['cancel', '/v1/payouts/pay_1/cancel', payment],
])('sanaga %s', (command, path, open) => {
  it.each([
    ['has ended', { ...open, status: 'EXPIRED', final: true }, 0],
    ['was paid all the same', { ...open, status: 'SUCCESSFUL', final: true }, 1],
    ["isn't known yet", open, 3],
  ])('tells by its exit code that the payment %s', async (_, shown, expected) => {
    const server = await serve(() => [200, shown]);
    const { code, stdout } = await sanaga(server, command, open.id, '--json');
    expect(server.seen).toMatchObject([{ method: 'POST', path }]);
    expect(JSON.parse(stdout)).toEqual(shown);
    expect(code).toBe(expected);
  });

  it('fails when it is refused', async () => {
    const server = await serve(() => problem(409, 'not_expirable', { payment: paid }));
    const { code, stderr } = await sanaga(server, command, open.id);
    expect(stderr).toContain('Because of not_expirable.');
    expect(code).toBe(1);
  });
});

describe('sanaga balance', () => {
  const balances: Readonly<Record<string, object>> = {
    collection: {
      object: 'balance',
      service: 'collection',
      serviceName: 'Shop',
      balance: 12_500,
      currency: 'XAF',
    },
    payout: {
      object: 'balance',
      service: 'payout',
      serviceName: 'Shop payouts',
      balance: 0,
      currency: 'XAF',
    },
  };
  const asked = () =>
    serve(({ path }) => [200, { ...balances[path.split('=')[1] ?? ''], asOf: '2026-11-21T08:20:32.843Z' }]);

  it('shows both', async () => {
    const { code, stdout } = await sanaga(await asked(), 'balance');
    expect(stdout.split('\n').slice(1)).toEqual([
      'collection  Shop          12,500 XAF  2026-11-21 09:20:32',
      'payout      Shop payouts       0 XAF  2026-11-21 09:20:32',
      '',
    ]);
    expect(code).toBe(0);
  });

  it('shows the one that is asked for', async () => {
    const server = await asked();
    const { stdout } = await sanaga(server, 'balance', 'payout', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ service: 'payout', balance: 0 });
    expect(server.seen.map(({ path }) => path)).toEqual(['/v1/balance?service=payout']);
  });

  it('is a failure when it is below what is asked for, for a cron job to tell', async () => {
    const server = await serve(() => [
      200,
      {
        service: 'payout',
        serviceName: 'shop',
        balance: 40_000,
        currency: 'XAF',
        asOf: '2026-11-21T08:20:32.843Z',
      },
    ]);
    const low = await sanaga(server, 'balance', 'payout', '--below', '40,001');
    expect(low.code).toBe(1);
    expect(low.stderr).toBe('The balance of payout is low: below 40,001 XAF.\n');
    expect(await sanaga(server, 'balance', 'payout', '--below', '40000')).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it("is not known while the provider can't say", async () => {
    const server = await serve(() => problem(503, 'provider_unavailable'));
    expect((await sanaga(server, 'balance')).code).toBe(3);
  });
});

describe('a reader who goes away', () => {
  /** Runs a command whose output nobody reads, from the beginning. @returns its exit code */
  async function unread(server: HttpServer | undefined, output: 'stdout' | 'stderr', ...args: readonly string[]) {
    const child = spawn(process.execPath, [built('build/cli/main.js'), ...args], {
      env: { ...(server && { SANAGA_URL: server.url }), SANAGA_API_KEY: 'sk_test' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child[output].destroy();
    const other = text(output === 'stdout' ? child.stderr : child.stdout);
    const [code, signal] = await once(child, 'exit');
    return { code, signal, other: await other };
  }

  it.each([
    ['list', '--limit', '0'],
    ['list', '--json'],
    ['list', '--csv', '--limit', '0'],
    ['completion', 'bash'],
    ['get', 'pay_1'],
    ['payout', '500', '--phone', '677000000'],
    ['payout', '500', '--phone', '677000000', '--wait'],
    ['--help'],
    ['payout', '--help'],
  ])('does not make what was done a failure: %p %p', async (...args) => {
    const many = Array.from({ length: 5_000 }, (_, index) => ({ ...paid, id: `pay_${index}` }));
    const server = await serve(({ path }) => (path.startsWith('/v1/payments?') ? page(...many) : [200, paid]));
    expect(await unread(server, 'stdout', ...args)).toEqual({ code: 0, signal: null, other: '' });
  });

  it.each(['stdout', 'stderr'] as const)('ends what would go on for ever, as SIGPIPE does: %s', async (output) => {
    const server = await serve((_, count) =>
      count % 3 === 0 ? problem(503, 'temporarily_unavailable') : page({ ...payment, transId: `${count}` }),
    );
    expect(await unread(server, output, 'watch')).toMatchObject({ code: 141, signal: null });
  });

  it('is told apart from an output that fails', async () => {
    const server = await serve(() => [200, paid]);
    const child = spawn(
      '/bin/sh',
      ['-c', '"$0" "$@" > /dev/full', process.execPath, built('build/cli/main.js'), 'get', 'pay_1'],
      {
        env: { SANAGA_URL: server.url, SANAGA_API_KEY: 'sk_test' },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    const stderr = text(child.stderr);
    expect(await once(child, 'exit')).toEqual([3, null]);
    expect(await stderr).toContain('ENOSPC');
  });
});

describe('sanaga get', () => {
  it('shows a payment as it is, without colours where there is no terminal', async () => {
    const server = await serve(() => [200, failed]);
    const { code, stdout } = await sanaga(server, 'get', 'pay_1');
    expect(stdout).toContain('pay_1  43,000 XAF  payout  FAILED, final\n');
    expect(stdout).toMatch(/ {2}reason +The payment was declined\n/);
    expect(stdout).not.toContain('\u001b');
    expect(code).toBe(0);
  });

  it.each([
    [paid, 0],
    [failed, 1],
    [payment, 3],
  ])('tells the outcome by its exit code with --wait: %#', async (shown, expected) => {
    const server = await serve(() => [200, shown]);
    expect((await sanaga(server, 'get', 'pay_1', '--wait', '0')).code).toBe(expected);
  });

  it('fails for a payment that is not there', async () => {
    const server = await serve(() => problem(404, 'not_found'));
    expect(await sanaga(server, 'get', 'pay_1')).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('sanaga list', () => {
  it('prints a table', async () => {
    const server = await serve(() => page(paid, { ...payment, id: 'pay_2' }));
    const { stdout } = await sanaga(server, 'list', '--status', 'successful');
    expect(stdout.split('\n').slice(1)).toEqual([
      '2026-11-21 09:20:32  pay_1    payout  43,000 XAF  SUCCESSFUL, final  refund-77',
      '2026-11-21 09:20:32  pay_2    payout  43,000 XAF  CREATED            refund-77',
      '',
    ]);
    expect(server.seen[0]?.path).toBe('/v1/payments?status=SUCCESSFUL&limit=20');
  });

  it("looks for the mobile operator's reference", async () => {
    const server = await serve(() => page(paid));
    await sanaga(server, 'list', '--financial-trans-id', '3034752116');
    expect(server.seen[0]?.path).toBe('/v1/payments?financialTransId=3034752116&limit=20');
  });

  it('asks for what is open, or over', async () => {
    const server = await serve(() => page(paid));
    for (const args of [['--final'], ['--final', 'true'], ['--final=false']]) await sanaga(server, 'list', ...args);
    const asked = server.seen.map(({ path }) => new URL(path, 'http://api').searchParams.get('final'));
    expect(asked).toEqual(['true', 'true', 'false']);
    expect((await sanaga(server, 'list', '--final', 'no')).code).toBe(2);
  });

  it('prints CSV for a spreadsheet: no formula, and the columns of the API', async () => {
    const server = await serve(() => page({ ...paid, fee: 860, externalId: '-1', metadata: { note: 'a;b' } }));
    const { code, stdout } = await sanaga(server, 'list', '--csv');
    const [head, row] = stdout.split('\r\n');
    expect(head).toBe(CSV_COLUMNS.join(','));
    expect(row).toContain(',860,');
    expect(row).toContain(",'-1,");
    expect(row).toMatch(/"\{""note"":""a\\u003bb""\}"$/);
    expect(code).toBe(0);
    expect((await sanaga(server, 'list', '--csv', '--json')).code).toBe(2);
    const semicolons = await sanaga(server, 'list', '--csv', '--separator', 'semicolon');
    expect(semicolons.stdout.split('\r\n')[0]).toBe(CSV_COLUMNS.join(';'));
  });

  it('exports the data unchanged, with characters that nobody sees', async () => {
    const metadata = { '\ud800': 'x', '\udbff': 'y', family: '👨\u200d👩\u200d👧', mark: '\u202e' };
    const server = await serve(() => page({ ...paid, metadata, externalId: 'a\u200db' }));
    const { stdout } = await sanaga(server, 'list', '--csv');
    const [, row = ''] = stdout.trimEnd().split('\r\n');
    expect(row).toContain(',a\u200db,');
    const cell = row.slice(row.indexOf('"{') + 1, -1).replaceAll('""', '"');
    expect(JSON.parse(cell)).toEqual(metadata);
    const shown = (await sanaga(server, 'list', '--json')).stdout;
    expect(JSON.parse(shown).metadata).toEqual(metadata);
  });

  it('shows each pair of metadata to a person, whatever its name is made of', async () => {
    const server = await serve(() => [200, { ...paid, metadata: { '\ud800': 'x', '\udbff': 'y' } }]);
    const { stdout } = await sanaga(server, 'get', 'pay_1');
    expect(stdout).toMatch(/metadata\.\\ud800 +x/);
    expect(stdout).toMatch(/metadata\.\\udbff +y/);
  });

  it("says which of a payment's ids it is to be found by, when it is not its own", async () => {
    const { code, stderr } = await sanaga(undefined, 'get', 'order-1001');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^sanaga: "order-1001" is not a payment's id.*"sanaga list".*--external-id.*--trans-id/);
  });

  it('begins CSV with a byte order mark, without which Excel takes UTF-8 for another encoding', async () => {
    const server = await serve(() => page(paid));
    const child = spawn(process.execPath, [built('build/cli/main.js'), 'list', '--csv'], {
      env: { SANAGA_URL: server.url, SANAGA_API_KEY: 'sk_test' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // As text, it would lose the mark.
    expect([...(await buffer(child.stdout)).subarray(0, 5)]).toEqual([0xef, 0xbb, 0xbf, 0x69, 0x64]);
  });

  it('prints one payment a line for programs', async () => {
    const server = await serve(() => page(paid, failed));
    const { stdout } = await sanaga(server, 'list', '--json');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([paid, failed]);
  });

  it('names what it cannot read, and is not called complete', async () => {
    const server = await serve(({ path }) =>
      path.startsWith('/v1/payments?')
        ? [200, { data: [paid], unreadable: [{ id: 'pay_9' }] }]
        : problem(503, 'temporarily_unavailable'),
    );
    const { code, stdout, stderr } = await sanaga(server, 'list');
    expect(stdout).toContain('pay_1');
    expect(stderr).toContain("pay_9 belongs in the list, but can't be read");
    expect(code).toBe(3);
  });
});

describe('sanaga watch', () => {
  it('prints each change, until the payment is final', async () => {
    const readings = [payment, payment, { ...payment, status: 'PENDING' }, paid];
    const server = await serve((_, count) => [200, readings[Math.min(count, readings.length) - 1]]);
    const { code, stdout } = await sanaga(server, 'watch', 'pay_1');
    expect(stdout.match(/CREATED|PENDING|SUCCESSFUL, final/g)).toEqual(['CREATED', 'PENDING', 'SUCCESSFUL, final']);
    expect(code).toBe(0);
  });

  it('goes on when Sanaga was away, and says so once', async () => {
    const server = await serve((_, count) => {
      if (count === 2 || count === 3) return problem(503, 'temporarily_unavailable');
      return [200, count === 1 ? payment : failed];
    });
    const { code, stderr } = await sanaga(server, 'watch', 'pay_1');
    expect(stderr).toBe('Because of temporarily_unavailable. Trying again…\nSanaga is back.\n');
    expect(code).toBe(1);
  });
});

describe('sanaga events', () => {
  it('prints the timeline', async () => {
    const data = [
      {
        at: '2026-11-21T08:20:32.843Z',
        type: 'created',
        source: 'merchant',
        summary: 'The payment was ordered',
      },
    ];
    const server = await serve(() => [200, { data }]);
    expect(await sanaga(server, 'events', 'pay_1', '--since', '2026-11-14')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--since is for all events'),
    });
    const { stdout } = await sanaga(server, 'events', 'pay_1');
    expect(stdout).toContain('2026-11-21 09:20:32  merchant  The payment was ordered\n');
    expect(server.seen[0]?.path).toBe('/v1/payments/pay_1/events');
    expect((await sanaga(server, 'events', 'pay_1', '--json')).stdout).toBe(`${JSON.stringify(data[0])}\n`);
  });

  it('prints all that was to be notified, without an id', async () => {
    const event = (number: number, changes: object = {}) => ({
      id: `evt_pay_${number}_succeeded_1`,
      type: 'payment.succeeded',
      timestamp: '2026-11-21T08:20:34.191Z',
      paymentId: `pay_${number}`,
      ...changes,
    });
    const pages = [
      { data: [event(1, { data: payment })], hasMore: true, nextCursor: 'MQ' },
      { data: [event(2)], hasMore: false, nextCursor: 'Mg' },
    ];
    const server = await serve((_, count) => [200, pages[(count - 1) % 2]]);
    const { stdout, code } = await sanaga(server, 'events', '--since', '2026-11-14');
    expect(stdout).toMatch(/2026-11-21 09:20:34 +payment.succeeded +pay_1 +CREATED/);
    expect(stdout).toMatch(/payment.succeeded +pay_2 +unreadable/);
    expect(code).toBe(0);
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/v1/events?since=2026-11-14',
      '/v1/events?cursor=MQ&since=2026-11-14',
    ]);
    expect((await sanaga(server, 'events', '--json')).stdout.split('\n')).toHaveLength(3);
  });
});

describe('sanaga notifications', () => {
  const at = '2026-11-21T08:20:32.843Z';
  const notification = (number: number, delivery: object) => ({
    number,
    id: `evt_pay_1_${number}`,
    type: 'payment.succeeded',
    at,
    delivery: { at, ...delivery },
  });

  it('lists them with what became of each', async () => {
    const data = [
      notification(1, { status: 'delivered' }),
      notification(2, { status: 'due', tries: 2, lastError: 'answered 500' }),
      notification(3, { status: 'abandoned', lastError: 'timed out' }),
      notification(4, { status: 'no_address' }),
    ];
    const server = await serve(() => [200, { data }]);
    const { code, stdout } = await sanaga(server, 'notifications', 'pay_1');
    expect(server.seen[0]?.path).toBe('/v1/payments/pay_1/notifications');
    const time = '2026-11-21 09:20:32';
    expect(stdout.split('\n').slice(1)).toEqual([
      `  1  ${time}  payment.succeeded  delivered ${time}`,
      `  2  ${time}  payment.succeeded  due ${time}; failed attempts: 2, the last: answered 500`,
      `  3  ${time}  payment.succeeded  given up ${time}: timed out`,
      `  4  ${time}  payment.succeeded  not sent: no webhook address was set`,
      '',
    ]);
    expect(code).toBe(0);
    expect((await sanaga(server, 'notifications', 'pay_1', '--json')).stdout).toBe(
      data.map((one) => `${JSON.stringify(one)}\n`).join(''),
    );
  });

  it('says that there are none', async () => {
    const server = await serve(() => [200, { data: [] }]);
    const { code, stdout, stderr } = await sanaga(server, 'notifications', 'pay_1');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: 'There is no notification of pay_1 yet.\n',
    });
  });

  const unacknowledged = (id: string, delivery: object) => ({
    payment: {
      id,
      merchant: 'shop',
      kind: 'payout',
      status: 'SUCCESSFUL',
      amount: 5_000,
      amountPaid: 4_000,
      currency: 'XAF',
    },
    notification: notification(1, delivery),
  });

  it.each([
    ['due', 'due', { status: 'due', tries: 2, lastError: 'answered 500' }, '; failed attempts: 2, the last:'],
    ['given-up', 'abandoned', { status: 'abandoned', lastError: 'answered 500' }, ':'],
  ])('lists those of all merchants that are %s, of all pages, and what to do', async (name, path, delivery, why) => {
    const rest = { total: 2 };
    const server = await serve((_, count) =>
      count === 1
        ? [200, { data: [unacknowledged('pay_1', delivery)], ...rest, nextCursor: 'more' }]
        : [200, { data: [unacknowledged('pay_2', delivery)], ...rest }],
    );
    const { code, stdout, stderr } = await sanaga(server, 'notifications', name);
    expect(server.seen.map((one) => one.path)).toEqual([
      `/v1/notifications/${path}`,
      `/v1/notifications/${path}?cursor=more`,
    ]);
    const [head, first, second] = stdout.split('\n');
    expect(head).toMatch(/^Happened \(Douala\) +Payment +Merchant +Amount +No\. +Type +Delivery$/);
    expect(first).toMatch(/ pay_1 +shop +4,000 XAF \(ordered: 5,000 XAF\) +1 +payment\.succeeded /);
    expect(first).toContain(`${why} answered 500`);
    expect(second).toContain(' pay_2 ');
    expect(stderr).toBe('To send one again: sanaga notifications resend <payment> <No.>\n');
    expect(code).toBe(1);
  });

  it.each(['due', 'given-up'])('says that none is %s', async (name) => {
    const none = { data: [], total: 0 };
    expect(await sanaga(await serve(() => [200, none]), 'notifications', name)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^No notification (is due|was given up)/),
    });
  });

  it('sends one again', async () => {
    const server = await serve(() => [202, paid]);
    const { code, stderr } = await sanaga(server, 'notifications', 'resend', 'pay_1', '2');
    expect(server.seen).toMatchObject([{ method: 'POST', path: '/v1/payments/pay_1/notifications/2/resend' }]);
    expect(stderr).toBe('Notification 2 is sent again.\n');
    expect(code).toBe(0);
  });

  it('tells that there is no such notification', async () => {
    const server = await serve(() => problem(404, 'no_such_notification'));
    expect(await sanaga(server, 'notifications', 'resend', 'pay_1', '9')).toMatchObject({
      code: 1,
      stdout: '',
    });
  });

  it.each([
    ['notifications'],
    ['notifications', 'order-1'],
    ['notifications', 'resend', 'pay_1'],
    ['notifications', 'resend', 'pay_1', '0'],
    ['notifications', 'resend', 'pay_1', 'first'],
  ])('needs a payment, and a number: %p %p %p %p', async (...args) => {
    const server = await serve(() => [200, { data: [] }]);
    expect((await sanaga(server, ...args)).code).toBe(2);
    expect(server.seen).toEqual([]);
  });
});

describe('sanaga review', () => {
  const decide = ['review', 'resend', 'pay_1', '--number', '2', '--why', 'absent'];

  it('lists what is in REVIEW, and fails while there is something', async () => {
    // A list has neither the review nor the reason: they are read of each payment.
    const { review: _review, reason: _reason, ...listed } = inReview;
    const server = await serve((_, count) => (count === 1 ? page(listed) : [200, inReview]));
    const { code, stdout, stderr } = await sanaga(server, 'review');
    expect(stdout).toMatch(
      /^Since \(Douala\) +Payment +Kind +Amount +Review +Decide from \(Douala\) +Merchant +Reason\n/,
    );
    expect(stdout).toMatch(/pay_1 +payout +43,000 XAF +2 +2026-11-21 10:20:32 +not found in time/);
    expect(stderr).toContain('Before you decide on one, look at it');
    for (const decision of ['match', 'fail', 'resend'])
      expect(stderr).toContain(`sanaga review ${decision} <payment> --number <review>`);
    expect(server.seen.map(({ path }) => path)).toEqual(['/v1/payments?status=REVIEW&limit=100', '/v1/payments/pay_1']);
    expect(code).toBe(1);
    expect((await sanaga(await serve(() => page()), 'review')).code).toBe(0);
  });

  it('reads eight of them at a time, and lists the oldest first', async () => {
    const ids = Array.from({ length: 20 }, (_, number) => `pay_${number}`);
    const reads: (() => void)[] = [];
    const most: number[] = [];
    const server = await serveHttp((response, { path }) => {
      const id = path.split('/')[3];
      const [status, body] =
        id === undefined ? page(...ids.map((one) => ({ ...inReview, id: one }))) : [200, { ...inReview, id }];
      const answer = () => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (id === undefined) return answer();
      // The latest is answered first. None is, before there are as many as there can be.
      reads.unshift(answer);
      if (reads.length < 8 && server.seen.length <= ids.length) return;
      setTimeout(() => {
        most.push(reads.length);
        for (const one of reads.splice(0)) one();
      }, 200);
    });
    const { code, stdout } = await sanaga(server, 'review', '--json');
    const listed = stdout.trimEnd().split('\n');
    expect(listed.map((line) => JSON.parse(line).id)).toEqual([...ids].reverse());
    expect(most).toEqual([8, 8, 4]);
    expect(code).toBe(1);
  });

  it('decides nothing where nobody can confirm it, and repeats the amount', async () => {
    const server = await serve(() => [200, inReview]);
    const { code, stderr } = await sanaga(server, ...decide);
    expect(stderr).toContain('Send 43,000 XAF once more (payout pay_1)?');
    expect(server.seen.map(({ method }) => method)).toEqual(['GET']);
    expect(code).toBe(2);
  });

  it('decides with --yes', async () => {
    const server = await serve(() => [200, payment]);
    expect((await sanaga(server, ...decide, '--yes')).code).toBe(0);
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        path: '/v1/payments/pay_1/resolve',
        body: JSON.stringify({ review: 2, why: 'absent', action: 'resend' }),
      },
    ]);
  });

  it('says so when it is not known yet whether the decision is carried out', async () => {
    const server = await serve(() => [202, inReview]);
    const { code, stderr } = await sanaga(server, ...decide, '--yes');
    expect(stderr).toContain("it isn't known whether this is carried out");
    expect(code).toBe(3);
  });

  it('says so when the decision waits for a second person', async () => {
    const at = '2026-11-21T09:30:00.000Z';
    const proposed = { action: 'resend', by: 'ann', why: 'absent', at } as const;
    const waiting = { ...inReview, review: { number: 2, since: at, decideFrom: at, proposed } };
    const server = await serve(() => [202, waiting]);
    const { code, stdout, stderr } = await sanaga(server, ...decide, '--yes');
    expect(stderr).toContain('This decision takes two people: it is kept');
    expect(stdout).toMatch(/review\.proposed\.by +ann/);
    expect(code).toBe(3);
  });

  it('rejects a decision that waits for a second person', async () => {
    const server = await serve(() => [200, inReview]);
    const args = ['review', 'reject', 'pay_1', '--number', '2', '--why', 'the portal shows it'];
    expect((await sanaga(server, ...args)).code).toBe(0);
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        path: '/v1/payments/pay_1/resolve',
        body: JSON.stringify({ action: 'reject', review: 2, why: 'the portal shows it' }),
      },
    ]);
  });

  it('does not decide on a review that has changed', async () => {
    const server = await serve(() => [200, { ...inReview, review: { ...inReview.review, number: 3 } }]);
    const { code, stderr } = await sanaga(server, ...decide);
    expect(stderr).toContain('the review is number 3 by now');
    expect({ code, requests: server.seen.length }).toEqual({ code: 2, requests: 1 });
  });

  it.each([
    ['review', 'resend', 'pay_1', '--why', 'x'],
    ['review', 'resend', 'pay_1', '--number', '1'],
    ['review', 'match', 'pay_1', '--number', '1', '--why', 'x'],
    ['review', 'pay', 'pay_1'],
  ])('needs the number, a reason, and the transaction: %p %p', async (...args) => {
    const server = await serve(() => [200, payment]);
    expect((await sanaga(server, ...args, '--yes')).code).toBe(2);
    expect(server.seen).toEqual([]);
  });
});

describe('sanaga approvals', () => {
  const soon: Payment = {
    ...held,
    id: 'pay_2',
    held: { ...(held.held as Hold), until: '2026-11-22T08:20:32.843Z', sendAt: '2026-12-24T07:00:00.000Z' },
  };

  it('lists what waits, with what ends first at the top, and fails while there is something', async () => {
    const { held: _held, orderedBy: _by, phone: _phone, ...listed } = held;
    const server = await serve(({ path }) => {
      if (path.startsWith('/v1/payments?')) return page(listed, { ...listed, id: 'pay_2' }, { ...listed, id: 'pay_3' });
      return [200, { pay_1: held, pay_2: soon }[path.slice(-5)] ?? paid];
    });
    const { code, stdout, stderr } = await sanaga(server, 'approvals');
    expect(new URL(server.seen[0]?.path ?? '', server.url).searchParams.get('held')).toBe('approval');
    expect(stdout.trimEnd().split('\n').slice(1)).toEqual([
      '2026-11-22 09:20:32  pay_2    43,000 XAF  Ngono Marie, •••• 205  ann         2026-12-24 08:00:00',
      '2026-11-28 09:20:32  pay_1    43,000 XAF  Ngono Marie, •••• 205  ann         at once',
    ]);
    expect(stderr).toContain('sanaga approve <payment>');
    expect(code).toBe(1);
    expect(await sanaga(await serve(() => page()), 'approvals')).toMatchObject({
      code: 0,
      stderr: 'No payout waits for an approval.\n',
    });
  });

  it('names what it cannot read, and is not called complete', async () => {
    const unreadable = [200, { data: [], unreadable: [{ id: 'pay_1' }] }] as const;
    const server = await serve(({ path }) =>
      path.startsWith('/v1/payments?') ? unreadable : problem(500, 'record_unreadable'),
    );
    const { code, stderr } = await sanaga(server, 'approvals');
    expect(stderr).toContain("pay_1 may wait, too, but can't be read at the moment");
    expect(code).toBe(3);
  });

  it('approves with the amount repeated, by the digest of what was shown', async () => {
    const released: Payment = { ...payment, status: 'PENDING', transId: 'T1' };
    const server = await serve(({ method }) => [200, method === 'GET' ? held : released]);
    const { code, stdout, stderr } = await sanaga(server, 'approve', 'pay_1', '--amount', '43,000');
    expect(stderr).toContain('Ngono Marie');
    expect(stdout).toContain('PENDING');
    expect(server.seen).toMatchObject([
      { method: 'GET' },
      { method: 'POST', path: '/v1/payouts/pay_1/approve', body: JSON.stringify({ digest: 'd'.repeat(64) }) },
    ]);
    expect(code).toBe(0);
  });

  it.each([
    [
      'of another amount',
      ['--amount', '4300'],
      held,
      1,
      'the amount is not 4,300 XAF, and the payout is of 43,000 XAF',
    ],
    ['where nobody can repeat it', [], held, 2, 'Give it with --amount'],
    ['that was released meanwhile', ['--amount', '43000'], paid, 1, "doesn't wait for an approval"],
  ] as const)('approves nothing %s', async (_, args, shown, expected, words) => {
    const server = await serve(() => [200, shown]);
    const { code, stderr } = await sanaga(server, 'approve', 'pay_1', ...args);
    expect(stderr).toContain(words);
    expect(server.seen.map(({ method }) => method)).toEqual(['GET']);
    expect(code).toBe(expected);
  });

  it('is refused for an own order, and not known while it takes longer', async () => {
    const approve = ['approve', 'pay_1', '--amount', '43000'];
    const own = await serve(({ method }) => (method === 'GET' ? [200, held] : problem(403, 'same_person')));
    expect(await sanaga(own, ...approve)).toMatchObject({ code: 1, stderr: expect.stringContaining('same_person') });
    const late = await serve(({ method }) => [method === 'GET' ? 200 : 202, held]);
    expect(await sanaga(late, ...approve)).toMatchObject({ code: 3, stderr: expect.stringContaining('not known yet') });
  });

  it('rejects, and takes a reason for it', async () => {
    const server = await serve(() => [200, { ...failed, failureCode: 'not_approved' }]);
    expect((await sanaga(server, 'reject', 'pay_1', '--why', 'no such invoice')).code).toBe(0);
    expect(server.seen).toMatchObject([
      { method: 'POST', path: '/v1/payouts/pay_1/reject', body: JSON.stringify({ why: 'no such invoice' }) },
    ]);
    expect((await sanaga(server, 'reject', 'pay_1')).code).toBe(2);
    expect((await sanaga(server, 'reject', 'col_1', '--why', 'x')).stderr).toContain('only payouts are approved');
    const open = await serve(() => [200, inReview]);
    expect((await sanaga(open, 'reject', 'pay_1', '--why', 'x')).code).toBe(3);
  });
});

describe('sanaga trigger', () => {
  it('never plays with a provider that may be a real one', async () => {
    const server = await serve(() => [201, payment]);
    const { code, stderr } = await sanaga(server, 'trigger', 'payout-paid');
    expect(stderr).toContain('its provider may be a real one');
    expect({ code, seen: server.seen }).toEqual({ code: 2, seen: [] });
  });
});

describe('sanaga doctor', () => {
  it('has nothing to check without settings', async () => {
    const { code, stdout, stderr } = await sanaga(undefined, 'doctor');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('no "npm start" runs in this folder, and the environment has no settings');
  });

  it('names a file of settings that is not there', async () => {
    const { code, stderr } = await sanaga(undefined, 'doctor', '--settings', 'nowhere.env');
    expect(code).toBe(2);
    expect(stderr).toContain("--settings: nowhere.env can't be read: ENOENT");
  });

  it('checks the "start" that runs in the folder, with what that was given', async () => {
    const api = await serve(({ path }) => (path === '/readyz' ? [200, {}] : page(paid)));
    const folder = await mkdtemp(join(tmpdir(), 'sanaga-doctor-'));
    const state = join(folder, STATE_FOLDER);
    try {
      await keptSecrets(state);
      await keptWebhookSecret(state);
      await noteRunning(state, {
        pid: process.pid,
        ports: { api: Number(new URL(api.url).port), sandbox: 9 },
        temporal: { address: '127.0.0.1:9', namespace: 'default' },
        taskQueue: 'payments',
        hasGeneratedKey: true,
        settings: settingsToTell({
          MERCHANT_WEBHOOK_URL: `${api.url}/hook`,
          // Two people can decide, as the settings want it.
          API_KEYS: `shop:${'a'.repeat(24)}:payouts,ops/ann:${'b'.repeat(24)}:review,ops/ben:${'c'.repeat(24)}:review`,
          SECOND_PERSON_ABOVE: '1000',
        }),
      });
      // Another terminal has settings for something else.
      const other = {
        SANAGA_URL: 'http://127.0.0.1:9',
        SANAGA_API_KEY: 'sk_other',
        PROVIDER_COLLECTION_URL: 'not an address',
        MERCHANT_WEBHOOK_URL: 'http://127.0.0.1:9/other',
        TEMPORAL_ADDRESS: '127.0.0.1:1',
      };
      const { stdout, stderr } = await runToEnd('build/cli/main.js', ['doctor'], other, folder);
      expect(stderr).toContain(`the "start" that runs in this folder (process ${process.pid})`);
      expect(stdout).toMatch(/^ok {4}settings, api /m);
      expect(stdout).toMatch(/^ok {4}settings, worker /m);
      expect(stdout).toContain(`${api.url} is ready`);
      expect(stdout).toContain('it is accepted, and can read payments');
      expect(stdout).toMatch(new RegExp(`^ok {4}webhooks +${api.url} can be reached`, 'm'));
      expect(stdout).toContain('no answer from 127.0.0.1:9');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('says that it checks the environment where no "start" runs', async () => {
    const env = { PROVIDER_COLLECTION_URL: 'not an address', TEMPORAL_ADDRESS: '127.0.0.1:9' };
    const { code, stderr } = await runToEnd('build/cli/main.js', ['doctor'], env);
    expect(code).toBe(1);
    expect(stderr).toContain('Checking the settings in the environment: no "npm start" runs in this folder.');
  });

  it('fails with a line for each part that is not as it must be', async () => {
    const { code, stdout } = await runToEnd('build/cli/main.js', ['doctor', '--json'], {
      PROVIDER_COLLECTION_URL: 'not an address',
      TEMPORAL_ADDRESS: '127.0.0.1:9',
    });
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found).toEqual([
      {
        check: 'settings, api',
        status: 'fail',
        detail: expect.stringContaining('WEBHOOK_TOKEN is not set'),
        todo: expect.any(String),
      },
      {
        check: 'settings, worker',
        status: 'fail',
        detail: expect.stringContaining('PROVIDER_COLLECTION_URL must be'),
        todo: expect.any(String),
      },
      {
        check: 'temporal',
        status: 'fail',
        detail: expect.stringContaining('127.0.0.1:9'),
        todo: expect.any(String),
      },
      {
        check: 'api',
        status: 'fail',
        detail: expect.any(String),
        todo: expect.stringContaining('SANAGA_URL'),
      },
    ]);
    expect(code).toBe(1);
  });
});

describe('sanaga completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints a script for %s', async (shell) => {
    const { code, stdout } = await sanaga(undefined, 'completion', shell);
    expect(stdout).toContain('sanaga complete --');
    expect(code).toBe(0);
  });

  it.each([
    [['rev'], 'review'],
    [['review', ''], 'resend'],
    [['trigger', 'link-p'], 'link-paid'],
    [['list', '--sta'], '--status'],
    [['list', '--status', ''], 'REVIEW'],
  ])('completes %p', async (words, expected) => {
    const { stdout } = await sanaga(undefined, 'complete', '--', ...words);
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toContain(expected);
  });
});

describe('a command without an API to talk to', () => {
  it.each([
    [{ SANAGA_URL: ' ', SANAGA_API_KEY: ' ' }, 'which API? Set SANAGA_URL and SANAGA_API_KEY'],
    [{ SANAGA_URL: 'nowhere', SANAGA_API_KEY: 'sk_test' }, "the API's address (SANAGA_URL, --url) must be"],
    [{ SANAGA_URL: 'http://127.0.0.1:9', SANAGA_API_KEY: 'a b' }, 'the API key (SANAGA_API_KEY, --api-key) must be'],
  ])('names the setting that is wrong: %p', async (env, message) => {
    const { code, stderr } = await runToEnd('build/cli/main.js', ['list'], env);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('says how to name one', async () => {
    const { code, stderr } = await sanaga(undefined, 'list');
    expect(stderr).toContain('Set SANAGA_URL and SANAGA_API_KEY');
    expect(code).toBe(2);
  });
});

describe('sanaga listen', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  /** Runs it, sends it a notification, once or more, and stops it by Ctrl-C. */
  async function deliver(args: readonly string[], { signedWith = secret, times = 1 } = {}) {
    const child = spawn(process.execPath, [built('build/cli/main.js'), 'listen', '--port', '0', ...args], {
      env: { SANAGA_WEBHOOK_SECRET: secret, TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stdout = text(child.stdout);
    let stderr = '';
    const url = await new Promise<string>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
        const [, found] = /Listening on (\S+)/.exec(stderr) ?? [];
        if (found !== undefined && stderr.includes('npm start')) resolve(found);
      });
    });
    const body = JSON.stringify({
      type: 'payment.succeeded',
      timestamp: '2026-11-21T08:20:34.191Z',
      data: paid,
    });
    const at = new Date();
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(signedWith).sign('evt_1', at, body),
    };
    let status = 0;
    for (let sent = 0; sent < times; sent++) {
      ({ status } = await fetch(url, { method: 'POST', body, headers }));
    }
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    return { status, code, stdout: await stdout, stderr, body };
  }

  it('shows what is signed, and ends with Ctrl-C', async () => {
    const before = Date.now() - 1_000;
    const { status, code, stdout, stderr } = await deliver([]);
    const [arrival = '', ...rest] = stdout.split('  ');
    expect(rest.filter((column) => column !== '')).toEqual([
      'payment.succeeded',
      expect.stringMatching(/^ *pay_1$/),
      '43,000 XAF',
      'SUCCESSFUL, final',
      'refund-77',
      'of 2026-11-21 09:20:34\n',
    ]);
    expect(Date.parse(`${arrival}Z`)).toBeGreaterThan(before);
    expect({ status, code }).toEqual({ status: 204, code: 0 });
    expect(stderr).not.toContain(secret);
  });

  it('says so when the same one comes again', async () => {
    const { stdout } = await deliver([], { times: 2 });
    expect(stdout).toMatch(/refund-77 {2}of [^(]*\n.*refund-77 {2}of .* {2}\(again\)\n$/);
  });

  it('refuses what is not', async () => {
    const signedWith = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    const { status, stdout, stderr } = await deliver([], { signedWith });
    expect({ status, stdout }).toEqual({ status: 400, stdout: '' });
    expect(stderr).toContain('refused');
  });

  it('forwards a notification unchanged, and answers as it was answered', async () => {
    const shop = await serveHttp((response) => response.writeHead(503).end());
    const { status, stdout, body } = await deliver(['--forward-to', `${shop.url}/sanaga`, '--json']);
    expect(status).toBe(503);
    expect(shop.seen).toMatchObject([
      {
        method: 'POST',
        path: '/sanaga',
        body,
        headers: { 'webhook-id': 'evt_1', 'webhook-signature': expect.stringMatching(/^v1,/) },
      },
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      type: 'payment.succeeded',
      timestamp: '2026-11-21T08:20:34.191Z',
      receivedAt: expect.any(String),
      data: paid,
      forwarded: { status: 503 },
    });
  });
});
