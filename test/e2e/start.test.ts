import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMerchant } from '../../stack/demo/merchant.js';
import { isPortFree } from '../../stack/processes/ports.js';
import { keptSecrets } from '../../stack/processes/settings.js';
import { built, freePorts, machine, runToEnd, START_PORTS, startToRun } from '../support/built.js';
import { documentedFetch, expectDocumented, expectDocumentedWebhook } from '../support/documented.js';

const SETTINGS = [...START_PORTS, 'LISTEN_PORT'] as const;

describe('start', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let apiUrl: string;
  let bookPort: number;
  const started: ChildProcess[] = [];
  const listeners: ChildProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-e2e-'));
    env = { ...machine(), ...(await freePorts(SETTINGS)) };
    apiUrl = `http://127.0.0.1:${env.PORT}`;
  });

  afterAll(async () => {
    for (const child of [...listeners, ...started])
      if (child.exitCode === null && child.signalCode === null) child.kill();
    await portsFree();
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts the stack, and resolves with what it prints once it is up. */
  async function start() {
    const { child, printed } = startToRun('build/cli/main.js', ['start'], env, folder);
    started.push(child);
    const text = await printed;
    bookPort = Number(/\bBook +(\S+)/.exec(text)?.[1]?.match(/:(\d+)\/book$/)?.[1]);
    return { child, printed: text };
  }

  async function portsFree(): Promise<boolean> {
    for (let tries = 0; tries < 1_800; tries++) {
      const ports = [...SETTINGS.map((name) => Number(env[name])), bookPort];
      const free = await Promise.all(ports.map((port) => isPortFree(port)));
      if (free.every(Boolean)) return true;
      await pause(100);
    }
    return false;
  }

  async function merchant() {
    const { apiKey } = await keptSecrets(join(folder, '.sanaga'));
    return createMerchant({
      apiUrl,
      apiKey,
      nextNotification: () => new Promise(() => undefined),
      onResponse: (response) => expectDocumented(response.method, response.url, response),
    });
  }

  const order = { method: 'link', amount: 4_200 };

  it('prints its addresses and its key, and refuses a second one in the folder', async () => {
    const { printed } = await start();
    const { apiKey, approverKey } = await keptSecrets(join(folder, '.sanaga'));
    for (const name of SETTINGS) expect(printed).toContain(`127.0.0.1:${env[name]}`);
    expect(bookPort).toBeGreaterThan(0);
    expect(printed).toContain(`API key          ${apiKey}\n  Approver's key   ${approverKey} `);

    const second = await runToEnd('build/cli/main.js', ['start'], env, folder);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(/another process runs on .*\.sanaga/);
  });

  describe('sends its webhooks to sanaga listen', () => {
    const sanaga = (...args: readonly string[]) => runToEnd('build/cli/main.js', args, machine(), folder);

    /** Runs `sanaga listen --json`, without any setting, until `use` is done. */
    async function listening(use: (received: (id: string) => Promise<unknown>) => Promise<void>): Promise<string> {
      const child = spawn(process.execPath, [built('build/cli/main.js'), 'listen', '--json'], {
        cwd: folder,
        env: machine(),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      listeners.push(child);
      let said = '';
      child.stderr.on('data', (text) => {
        said += String(text);
      });
      let printed = '';
      child.stdout.on('data', (text) => {
        printed += String(text);
      });
      await until(() => said.includes('Listening on'));
      await use(async (id) => {
        const find = () =>
          printed
            .split('\n')
            .slice(0, -1)
            .map((line) => JSON.parse(line))
            .find(({ data }) => data.id === id);
        const { id: _webhookId, receivedAt: _receivedAt, ...event } = await until(find);
        expectDocumentedWebhook({ text: JSON.stringify(event) });
        return event;
      });
      child.kill('SIGINT');
      await once(child, 'exit');
      return said;
    }

    async function until<Value>(look: () => Value | Promise<Value>): Promise<Value> {
      for (let tries = 0; tries < 1_800; tries++) {
        const found = await look();
        if (found) return found;
        await pause(100);
      }
      throw new Error('it has not happened within 30 s');
    }

    it('which verifies them, without any option', async () => {
      const said = await listening(async (received) => {
        const { id } = JSON.parse((await sanaga('trigger', 'link-paid', '--json')).stdout);
        expect(await received(id)).toMatchObject({
          type: 'payment.succeeded',
          data: { status: 'SUCCESSFUL' },
        });
      });
      expect(said).toContain(`Listening on http://127.0.0.1:${env.LISTEN_PORT}/ for the notifications of the running`);
      expect(said).not.toContain('refused');
    });

    it('which gets what was due before it listened, at once when it is sent again', async () => {
      const { id } = JSON.parse((await sanaga('trigger', 'payout-paid', '--json')).stdout);
      const { apiKey } = await keptSecrets(join(folder, '.sanaga'));
      const call = (path: string, method = 'GET') =>
        documentedFetch(`${apiUrl}/v1/payments/${id}/notifications${path}`, {
          method,
          headers: { authorization: `Bearer ${apiKey}` },
        });
      const tried = await until(async () => {
        const [first] = JSON.parse(await (await call('')).text()).data;
        return first?.delivery.tries > 0 ? first : undefined;
      });
      expect(tried).toMatchObject({
        number: 1,
        delivery: { status: 'due', lastError: expect.stringMatching(/refused the connection|not sent/) },
      });
      await listening(async (received) => {
        expect((await call('/1/resend', 'POST')).status).toBe(202);
        expect(await received(id)).toMatchObject({ type: 'payment.succeeded' });
      });
    });
  });

  describe('serves the command line in its folder', () => {
    const sanaga = (...args: readonly string[]) => runToEnd('build/cli/main.js', args, machine(), folder);

    it('without its address and its key', async () => {
      const args = ['collect', '5000', '--external-id', 'order-1', '--idempotency-key', 'order-1', '--json'];
      const created = await sanaga(...args);
      expect(created).toMatchObject({ code: 0, stderr: '' });
      const { id } = JSON.parse(created.stdout);
      const shown = await sanaga('get', id, '--json');
      expect(JSON.parse(shown.stdout)).toMatchObject({ id, amount: 5_000, externalId: 'order-1' });
      expect((await sanaga(...args)).stdout).toContain(`"id":"${id}"`);
    });

    it.each([
      ['link-paid', 'SUCCESSFUL'],
      ['link-declined', 'FAILED'],
      ['link-expired', 'EXPIRED'],
      ['payout-failed', 'FAILED'],
      ['payout-lost-answer', 'SUCCESSFUL'],
    ])('has its sandbox run %s', async (scenario, status) => {
      const { code, stdout } = await sanaga('trigger', scenario, '--json');
      expect(JSON.parse(stdout)).toMatchObject({ status, final: scenario !== 'link-declined' });
      expect(code).toBe(0);
    });

    it('and finds nothing wrong, but that nobody listens', async () => {
      const { code, stdout } = await sanaga('doctor', '--json');
      const found = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(found.filter(({ status }) => status === 'fail')).toEqual([]);
      expect(found.map(({ check }) => check)).toEqual([
        ...['settings, api', 'settings, worker', 'temporal', 'namespace', 'worker'],
        ...['book', 'provider, collections', 'provider, payouts', "the provider's clock"],
        ...['api', 'api key', "the API's clock", 'webhooks'],
      ]);
      expect(found.at(-1)).toMatchObject({
        status: 'warn',
        detail: `no answer from http://127.0.0.1:${env.LISTEN_PORT}: ECONNREFUSED`,
        todo: expect.stringContaining('sanaga listen'),
      });
      expect(code).toBe(0);
    });
  });

  it('leaves nothing running when it is killed, and loses nothing: the next one knows its payments', async () => {
    const first = await (await merchant()).create('/v1/collections', order, 'kept');
    started.at(-1)?.kill('SIGKILL');
    expect(await portsFree()).toBe(true);

    await start();
    const again = await merchant();
    expect(await again.get(first.id)).toMatchObject({ id: first.id, link: first.link });
    expect(await again.create('/v1/collections', order, 'kept')).toMatchObject({ id: first.id });
    const checkout = await fetch(String(first.link));
    expect([checkout.status, await checkout.text()]).toEqual([200, expect.stringMatching(/Pay 4,200\sXAF/)]);
  });

  it('stops when it is asked to, with exit code 0', async () => {
    const child = started.at(-1);
    if (child === undefined) throw new Error('nothing was started');
    child.kill('SIGTERM');
    // As Ctrl-C under npm does: once from the terminal, once from npm.
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(await portsFree()).toBe(true);
  });

  it('ends with exit code 1 when a part of it fails, and shows the log of that part', async () => {
    const { child, printed } = await start();
    const worker = Number(/worker (\d+)/.exec(printed)?.[1]);
    let complaints = '';
    child.stderr?.on('data', (text) => {
      complaints += String(text);
    });
    process.kill(worker, 'SIGKILL');
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(complaints).toContain('worker: ended with SIGKILL');
    expect(complaints).toContain('worker is running');
    expect(await readFile(join(folder, '.sanaga/logs/worker.log'), 'utf8')).toContain('worker is running');
  });

  it('ends with exit code 78 for wrong settings, before anything is started', async () => {
    const { code, stderr } = await runToEnd(
      'build/cli/main.js',
      ['start'],
      { ...env, PORT: 'http', POLL_MAX: 'often' },
      folder,
    );
    expect(code).toBe(78);
    expect(stderr.trimEnd().split('\n').sort()).toEqual([
      expect.stringMatching(/^POLL_MAX /),
      expect.stringMatching(/^PORT /),
    ]);
  });
});
