import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadAnswer, LoadOrder, LoadReady } from './messages.js';
import type { ProviderCredentials } from './provider-stub.js';

/** The provider and the merchant as a system sees them. */
export interface Surroundings {
  readonly provider: ProviderCredentials & { readonly url: string };
  readonly merchant: { readonly url: string; readonly secret: string };
}

/** The process that plays the provider, the merchant and its customers. */
export interface LoadProcess extends Surroundings {
  readonly pid: number;
  run(order: LoadOrder): Promise<LoadAnswer>;
  stop(): void;
}

/**
 * Starts the load process. It ends with this one.
 *
 * @param stop ends whatever it is waited for
 * @throws Error when it doesn't come up.
 */
export async function startLoadProcess(stop: AbortSignal): Promise<LoadProcess> {
  const credentials = { user: 'bench', key: randomBytes(16).toString('hex') };
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const child = fork(fileURLToPath(new URL('./main.js', import.meta.url)), {
    // In a group of its own: a Ctrl-C is for this process, which then ends that one.
    detached: true,
    env: {
      ...process.env,
      PROVIDER_USER: credentials.user,
      PROVIDER_KEY: credentials.key,
      WEBHOOK_SECRET: secret,
    },
  });
  const { providerPort, merchantPort } = await answerOf<LoadReady>(child, stop);
  const { pid } = child;
  if (pid === undefined) throw new Error('the load process has no process id');
  return {
    pid,
    provider: { ...credentials, url: `http://127.0.0.1:${providerPort}` },
    merchant: { secret, url: `http://127.0.0.1:${merchantPort}/` },
    async run(order) {
      if (!child.connected) throw new Error('the load process has ended');
      child.send(order);
      return await answerOf<LoadAnswer>(child, stop);
    },
    stop: () => {
      if (child.connected) child.disconnect();
    },
  };
}

async function answerOf<Answer>(child: ChildProcess, stop: AbortSignal): Promise<Answer> {
  stop.throwIfAborted();
  const ended = new AbortController();
  const { signal } = ended;
  const exit = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the load process ended with ${code}`);
  });
  const message = once(child, 'message', { signal }).then(([answer]) => answer as Answer);
  const stopped = once(stop, 'abort', { signal }).then(() => {
    throw stop.reason;
  });
  try {
    return await Promise.race([message, exit, stopped]);
  } finally {
    ended.abort();
    await Promise.allSettled([message, exit, stopped]);
  }
}
