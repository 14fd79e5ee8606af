import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { connectClient } from '../../src/temporal/connection.js';
import { type LedgerEntry, readLedger } from '../../stack/demo/ledger.js';
import {
  createMerchant,
  type Merchant,
  type MerchantHook,
  openMerchantHook,
  type ReceivedWebhook,
} from '../../stack/demo/merchant.js';
import { freePort, steadyPort } from '../../stack/processes/ports.js';
import { makeSecrets, type Secrets, stackSettings } from '../../stack/processes/settings.js';
import { bringUpStack, type Stack } from '../../stack/processes/stack.js';
import { built, machine, PROJECT } from './built.js';
import { documentedFetch, expectDocumented, expectDocumentedWebhook } from './documented.js';
import { encryptionWith } from './test-encryption.js';

/** The real thing: Temporal's dev server, and the API, a worker and the sandbox as processes of their own. */
export interface RunningStack {
  readonly stack: Stack;
  readonly taskQueue: string;
  /** Its responses are compared with the OpenAPI document, too. */
  readonly merchant: Merchant;
  readonly hook: MerchantHook;
  readonly secrets: Secrets;
  readonly client: Client;
  /** A request to the API, with the merchant's key, whose response is compared with the OpenAPI document. */
  call(method: 'GET' | 'POST', path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Returns the provider's transactions that carry a payment's id. */
  transactionsOf(id: string): Promise<LedgerEntry[]>;
  /** All that the processes have written. */
  logs(): Promise<string>;
  /** All that the files of the book's database have in them. */
  bookBytes(): Promise<Buffer>;
  stop(): Promise<void>;
}

/**
 * The merchant's address for notifications. Closing it throws when one that has come isn't as in the OpenAPI document.
 */
export async function openDocumentedHook(): Promise<MerchantHook> {
  const received: ReceivedWebhook[] = [];
  const hook = await openMerchantHook((webhook) => received.push(webhook));
  return {
    ...hook,
    async close() {
      await hook.close();
      for (const webhook of received) expectDocumentedWebhook(webhook);
    },
  };
}

/**
 * Brings it up; `settings` are added to those that its parts need. With a DATABASE_URL among them, the book is there
 * already. Stop it in the end.
 */
export async function bringUp(
  settings: Readonly<Record<string, string>> = {},
  {
    withCodec = false,
    temporalAddress = process.env.E2E_TEMPORAL_ADDRESS,
  }: {
    readonly withCodec?: boolean;
    /** A running server's, in place of one of its own. */
    readonly temporalAddress?: string | undefined;
  } = {},
): Promise<RunningStack> {
  built('lib/server.js');
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-e2e-'));
  const hook = await openDocumentedHook();
  const secrets = makeSecrets();
  const ports = {
    api: await freePort(),
    sandbox: await freePort(),
    codec: withCodec ? await freePort() : undefined,
    book: settings.DATABASE_URL === undefined ? await steadyPort() : undefined,
  };
  const env = {
    ...machine(),
    ...stackSettings(ports, secrets),
    SANDBOX_SETTLE_DELAY: '300ms',
    MERCHANT_WEBHOOK_URL: hook.url,
    MERCHANT_WEBHOOK_SECRET: hook.secret,
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
    ...settings,
  };
  const report = () => undefined;
  const temporal = {
    env: {
      ...machine(),
      ...(temporalAddress && { TEMPORAL_ADDRESS: temporalAddress }),
      ...(settings.TEMPORAL_NAMESPACE && { TEMPORAL_NAMESPACE: settings.TEMPORAL_NAMESPACE }),
    },
  };
  const bookFolder = await mkdtemp(join(tmpdir(), 'sanaga-e2e-book-'));
  // Several stacks may share one Temporal.
  const taskQueue = temporalAddress === undefined ? 'payments' : `payments-${ports.api}`;
  const stack = await bringUpStack({
    ports,
    bookFolder,
    env,
    taskQueue,
    logFolder: folder,
    report,
    temporal,
    project: PROJECT,
  });
  const client = connectClient(stack.temporal.target, encryptionWith(secrets.encryptionKeys));
  const merchant = createMerchant({
    apiUrl: stack.apiUrl,
    apiKey: secrets.apiKey,
    nextNotification: hook.next,
    onResponse: (response) => expectDocumented(response.method, response.url, response),
  });
  return {
    stack,
    taskQueue,
    merchant,
    hook,
    secrets,
    client,
    async call(method, path, body, headers = {}) {
      return await documentedFetch(stack.apiUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${secrets.apiKey}`,
          'content-type': 'application/json',
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    },
    async transactionsOf(id) {
      const ledger = await readLedger(stack.sandboxUrl);
      return ledger.filter(({ transaction }) => transaction.externalId === id);
    },
    async bookBytes() {
      const files = await readdir(bookFolder, { recursive: true, withFileTypes: true });
      const contents = files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name)));
      return Buffer.concat(await Promise.all(contents));
    },
    async logs() {
      const files = await readdir(folder);
      return (await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))).join('\n');
    },
    async stop() {
      await client.connection.close();
      await stack.stop();
      await rm(folder, { recursive: true, force: true });
      await rm(bookFolder, { recursive: true, force: true });
      await hook.close();
    },
  };
}
