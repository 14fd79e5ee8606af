import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { manualClock } from '../../sandbox/clock.js';
import type { Entry } from '../../sandbox/entry.js';
import type { Ledger } from '../../sandbox/ledger.js';
import { createSandbox } from '../../sandbox/sandbox.js';

export const HOUR = 3_600_000;

/** 21 November 2025, 12:05 in Douala. */
const START = Date.UTC(2025, 10, 21, 11, 5);

/** A server on a free port of this machine, with its origin. */
export const listen = async (handle: RequestListener) => {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  const close = () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    return closed;
  };
  return { origin: `http://127.0.0.1:${address.port}`, close };
};

type LinkDraft = Parameters<Ledger['openLink']>[0];

/** A sandbox of its own over HTTP, whose clock stands still until a test moves it. */
export const startCheckout = async () => {
  const clock = manualClock(START);
  const service = { apiUser: 'user', apiKey: 'key' };
  const sandbox = createSandbox({
    clock,
    merchantName: 'Boutique Sanaga',
    services: { collection: service, payout: { ...service, apiUser: 'payout-user' } },
  });
  const { url: origin } = await sandbox.listen(0);
  const { ledger, close } = sandbox;
  return {
    clock,
    ledger,
    origin,
    close,
    /** Opens a link of 5,000 XAF, and gives its address and its entry in the ledger. */
    openLink: (draft: Partial<LinkDraft> = {}) => {
      const entry = ledger.openLink({
        service: 'collection',
        serviceName: 'Boutique Sanaga',
        method: 'link',
        amount: 5000,
        ...draft,
      });
      return { entry, address: `${origin}/pay/${entry.linkToken}` };
    },
    /** Moves the clock on by `span` ms. */
    pass: (span: number) => clock.advanceTo(clock.now() + span),
  };
};

export type CheckoutServer = Awaited<ReturnType<typeof startCheckout>>;

/** The statuses that a transaction went through, in order. */
export const statusesOf = (entry: Entry) => entry.history.map(({ status }) => status);
