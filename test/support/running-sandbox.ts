import { afterEach } from '@jest/globals';
import { type ManualClock, manualClock } from '../../sandbox/clock.js';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.js';
import { transactionSchema, type WireTransaction } from '../../src/provider/schemas.js';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** 10 March 2025, 23:30 UTC: near enough to midnight for the dates to matter. */
export const START = Date.UTC(2025, 2, 10, 23, 30);

export const services = {
  collection: { apiUser: 'collect-user', apiKey: 'collect-key' },
  payout: { apiUser: 'payout-user', apiKey: 'payout-key' },
};
type Who = keyof typeof services;

/** Numbers of both operators, by what they come to. */
export const phones = {
  succeeds: '677000000',
  fails: '677000100',
  succeedsIn5s: '677000205',
  failsIn5s: '677000305',
  stays: '677000800',
  orange: '699000000',
};

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

export interface Running {
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  readonly url: string;
  /** Goes on by so much, and lets every notification that falls due arrive. */
  advance(ms: number): Promise<void>;
  send(path: string, init?: RequestInit): Promise<Reply>;
  get(path: string, who?: Who): Promise<Reply>;
  post(path: string, body: unknown, who?: Who): Promise<Reply>;
  operator(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Reply>;
}

const open: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

export const credentials = (who: Who) => ({
  apiuser: services[who].apiUser,
  apikey: services[who].apiKey,
});

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A sandbox over real HTTP whose clock stands still until a test moves it; closed after the test. */
export async function startSandbox(options: Partial<SandboxOptions> = {}): Promise<Running> {
  const clock = manualClock(START);
  const sandbox = createSandbox({ clock, services, merchantName: 'Shop', seed: 'test', ...options });
  open.push(sandbox);
  const { url } = await sandbox.listen(0);

  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };
  const json = (method: string, body: unknown, headers = {}): RequestInit => ({
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

  return {
    sandbox,
    clock,
    url,
    advance: async (ms) => {
      const end = clock.now() + ms;
      for (let due = clock.nextDue(); due !== undefined && due <= end; due = clock.nextDue()) {
        clock.advanceTo(due);
        await sandbox.quiet();
      }
      clock.advanceTo(end);
    },
    send,
    get: (path, who = 'collection') => send(path, { headers: credentials(who) }),
    post: (path, body, who = 'collection') => send(path, json('POST', body, credentials(who))),
    operator: (method, path, body) => send(`/_sandbox${path}`, body === undefined ? { method } : json(method, body)),
  };
}

/** The transaction that a reply carries. */
export const transactionOf = (reply: Reply): WireTransaction => transactionSchema.parse(reply.body);

/** The transactions that a reply carries. */
export const transactionsOf = (reply: Reply): WireTransaction[] => transactionSchema.array().parse(reply.body);

/** The string `field` of a reply. */
export const textOf = (reply: Reply, field: string): string =>
  typeof reply.body === 'object' && reply.body !== null ? String(Reflect.get(reply.body, field)) : '';

export const transIdOf = (reply: Reply): string => textOf(reply, 'transId');

/** Opens a link and gives its transId. */
export const openLink = async (running: Running, body: object = {}): Promise<string> =>
  transIdOf(await running.post('/initiate-pay', { amount: 1000, ...body }));

/** Starts a direct payment and gives its transId. */
export const payDirectly = async (running: Running, body: object = {}): Promise<string> =>
  transIdOf(await running.post('/direct-pay', { amount: 1000, phone: phones.succeeds, ...body }));

/** Starts a payout and gives its transId. */
export const payOut = async (running: Running, body: object = {}): Promise<string> =>
  transIdOf(await running.post('/payout', { amount: 1000, phone: phones.succeeds, ...body }, 'payout'));

/** Pays a link as its payer would at the checkout. */
export const payLink = (running: Running, transId: string, phone = phones.succeeds) =>
  running.sandbox.ledger.attempt(transId, { action: 'pay', phone }).kind;

/** The status as the provider gives it; takes one of the six calls. */
export const statusOf = async (running: Running, transId: string, who: Who = 'collection') =>
  transactionOf(await running.get(`/payment-status/${transId}`, who)).status;
