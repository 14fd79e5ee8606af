import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { apiKeys } from '../../src/settings/api-keys.js';
import { isWebhookSecret } from '../../src/settings/kinds.js';
import { merchantsFile } from '../../src/settings/merchants-file.js';
import { connectClient } from '../../src/temporal/connection.js';
import { readLedger } from '../../stack/demo/ledger.js';
import { atCheckout } from '../../stack/demo/payer.js';
import { scenarios } from '../../stack/demo/scenarios.js';
import { freePort, isPortFree } from '../../stack/processes/ports.js';
import { stackSettings } from '../../stack/processes/settings.js';
import { launchBrowser } from '../browser/browser.js';
import { arrive, payButton, phoneField, visit } from '../browser/visit.js';
import { machine, PROJECT } from '../support/built.js';
import { expectInSchema } from '../support/documented.js';
import { type Block, type Page, readPages } from '../support/pages.js';
import { Shell } from '../support/shell.js';
import { encryptionWith } from '../support/test-encryption.js';
import { codeFolder } from './code-folder.js';
import { asMerchantsSee, likenessOf } from './likeness.js';
import { type RunningStart, runStart } from './running-start.js';

/*
 * Follows every page of the documentation as a reader would: runs each block, in the order of the page, against a
 * running `npm start`, fills in what the reader is to copy, does what the page says between the blocks, and compares
 * what is shown with what comes. Only the ports are others.
 */

/** Commands that are not run here, each with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm ci': 'would remove the packages that this test runs on. .ci/run begins with it',
  'npm start': 'is running already, for all pages: see runStart',
  'npm run shop': 'starts what npm start has started here. test/browser/shop.test.ts runs it',
  'npm ci && npm run demo': 'takes half a minute. test/e2e/demo.test.ts runs it',
  'npm ci && npm test': 'is part of what runs this: .ci/run',
  'cp .env.example .env': 'belongs to the next one',
  'docker-compose up -d --build': 'needs images from a registry. What it reads is checked below, and in test/deploy',
  'temporal workflow show --workflow-id $ID --codec-endpoint https://codec.payments.example --codec-auth "Bearer $KEY"':
    "needs Temporal's command line. test/browser/web-ui.test.ts runs it",
  'npx node lib/migrate.js': 'needs the book of an installation. test/e2e/book.test.ts runs it',
  "npx node lib/payers.js export 677000205 --by ann --why 'request 4711' > 677000205.json": 'as the one before',
  'npx node lib/payers.js preview 677000205': 'as the one before',
  "npx node lib/payers.js erase 677000205 --by ann --why 'request 4711' --confirm 3-9f86d081884c7d65":
    'as the one before',
  'npx node lib/payers.js requests': 'as the one before',
  'npx node lib/payers.js reseal': 'as the one before',
  'temporal workflow count --query "StartTime <= \'$ROTATED\'"': "needs Temporal's command line",
  'docker-compose kill -s HUP api worker codec': 'needs the containers. What it names is checked below',
  'docker-compose exec -T backup pgbackrest --type=diff backup': 'as the one before',
  'docker-compose exec -T backup pgbackrest check': 'as the one before',
  "docker-compose exec -T postgres psql -U temporal -c 'SELECT datname, usename, state, count(*) FROM pg_stat_activity GROUP BY 1, 2, 3 ORDER BY 4 DESC' postgres":
    'as the one before',
  'docker-compose exec -T postgres psql -U temporal -c "SELECT pid, usename, application_name, xact_start, left(query, 60) FROM pg_stat_activity WHERE xact_start < now() - interval \'30 minutes\'" postgres':
    'as the one before',
  'docker-compose exec -T backup pgbackrest info': 'as the one before',
};

/** The benchmarks, with whatever options: they take minutes. test/bench runs them with a few payments. */
const BENCHMARK = /^npm run bench\b/;

/** Programs that run until Ctrl-C, and what they print when they are ready. */
const UNTIL_STOPPED: readonly [command: RegExp, ready: RegExp][] = [
  [/^(npx )?sanaga listen\b/, /Listening on/],
  [/^node \S+\.mjs$/, /\S/],
];

/** Commands whose exit code has a meaning: docs/command-line.md. */
const EXIT_CODES: readonly string[] = ['sanaga review: exit code 1', 'npx sanaga statements today --make: exit code 3'];

/** Drawings and tables of the README. */
const DRAWING = /^merchant ──HTTP──▶ api /m;
const DEMO_TABLE = /^Payment +Kind +Method +XAF +Status +Final$/m;

/** Matches an instruction to pay. The page's own number is used, 677 000 000. */
const PAY = /\bOpen the `?link`?[ ,][^.]*\b(pay|press "Pay)\b/;

/** A transaction in an example. An operator takes the real one from the provider's portal. */
const EXAMPLE_TRANSACTION = /ntLE9hHMsiKRMFBw|PbyCuFjOcKUumnR0/g;

/** Pages that another test follows, with the reason. */
const FOLLOWED_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/generated-clients.md': 'needs Java, Go, PHP and Python. test/e2e/generated-client.check.ts follows it',
};

const pages = (await readPages()).filter(({ path }) => !(path in FOLLOWED_ELSEWHERE));

let base: string;
let start: RunningStart;
let browser: Browser;
let temporal: Client;
let underReview: Promise<{ readonly id: string; readonly transId: string }>[];
let paidLink: Promise<{ readonly id: string; readonly webhook: Webhook }> | undefined;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'sanaga-docs-'));
  // An ambiguous payment comes to REVIEW as soon as the settings allow.
  start = await runStart(base, {
    SANDBOX_SETTLE_DELAY: '300ms',
    PROVIDER_TIMEOUT: '5s',
    AMBIGUOUS_GRACE: '20s',
    RESOLVE_AFTER: '15s',
  });
  temporal = connectClient(
    { address: start.temporalAddress, namespace: 'default' },
    encryptionWith(start.secrets.encryptionKeys),
  );
  browser = await launchBrowser();
  const settings = stackSettings(
    { api: Number(new URL(start.apiUrl).port), sandbox: Number(new URL(start.sandboxUrl).port) },
    start.secrets,
  );
  // What the operator has set.
  const env = { ...settings, DATABASE_URL: start.bookUrl, TEMPORAL_ADDRESS: start.temporalAddress };
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(start.folder, '.env'), lines.join(''));
  underReview = [await loseSightOfPayout('lost-1'), await loseSightOfPayout('lost-2')].map(reviewed);
  for (const review of underReview) review.catch(() => undefined);
});

afterAll(async () => {
  await temporal?.connection.close();
  await browser?.close();
  await start?.stop();
  await rm(base, { recursive: true, force: true });
});

describe('every block of', () => {
  it.each(pages.filter(({ blocks }) => blocks.length > 0).map((page) => [page.path, page] as const))(
    '%s holds',
    async (_, page) => {
      const reader = await Reader.open(page);
      try {
        for (const block of page.blocks) await reader.read(block);
        await reader.follow(page.end, `${page.path}, at its end`);
      } finally {
        await reader.close();
      }
    },
    180_000,
  );

  it('the TypeScript and JavaScript of all pages has its types right', async () => {
    const folder = await codeFolder(join(base, 'types'));
    const files = pages.flatMap(({ path, blocks }) =>
      blocks
        .filter(({ language }) => ['ts', 'js'].includes(language))
        .map(({ language, text }, index) => ({ name: fileName(path, index, language), text })),
    );
    expect(files.length).toBeGreaterThan(5);
    await Promise.all(files.map(({ name, text }) => writeFile(join(folder, name), text)));
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      types: ['node'],
      strict: true,
      allowJs: true,
      checkJs: true,
      skipLibCheck: true,
      noEmit: true,
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*'] }));
    const tsc = join(PROJECT, 'node_modules/@typescript/native/bin/tsc');
    const checked = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
      (error: { readonly stdout: string }) => error,
    );
    expect(checked.stdout).toBe('');
  });
});

describe('what is not run here', () => {
  it('is still in the pages', () => {
    const lines = pages.flatMap(({ blocks }) => blocks.flatMap((block) => block.text.split('\n')));
    expect(Object.keys(NOT_RUN).filter((command) => !lines.includes(command))).toEqual([]);
  });

  it('names scripts of package.json, files and services that exist', async () => {
    const { scripts } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'));
    expect(scripts).toMatchObject({
      start: 'npm run build --silent && node build/cli/main.js start',
      shop: expect.stringContaining(' shop'),
      demo: expect.stringContaining(' demo'),
      test: expect.any(String),
    });
    const compose = await readFile(join(PROJECT, 'docker-compose.yml'), 'utf8');
    for (const part of ['\n  api:\n', '\n  worker:\n', 'profiles: [sandbox]']) expect(compose).toContain(part);
    expect(await readFile(join(PROJECT, '.env.example'), 'utf8')).toContain('API_KEYS=');
  });

  it('is a configuration that docker-compose takes, where it is installed', async () => {
    const shell = promisify(execFile);
    const isInstalled = await shell('docker-compose', ['version']).then(
      () => true,
      () => false,
    );
    if (!isInstalled) return;
    const args = ['--env-file', '.env.example', '--profile', 'sandbox', 'config', '--quiet'];
    await shell('docker-compose', args, { cwd: PROJECT });
  });
});

/** A webhook as it was received. */
interface Webhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Somebody who reads one page. */
class Reader {
  /** Output of the page's programs, in its order. */
  readonly #printed: string[] = [];
  readonly #running: (() => Promise<string>)[] = [];
  /** The block before, if it is of a shell, and what it has printed. */
  #before: { readonly block: Block; readonly stdout: string } | undefined;
  #codeBlocks = 0;

  private constructor(
    private readonly page: Page,
    private readonly folder: string,
    private readonly shell: Shell,
    private readonly shopPort: number,
  ) {}

  static async open(page: Page): Promise<Reader> {
    const folder = await mkdtemp(join(base, 'reader-'));
    // docs/client.md is read in a project of the reader's own; the others in the folder of `npm start`.
    const cwd = page.path === 'docs/client.md' ? folder : start.folder;
    const env = { ...start.env, ...SETTINGS_OF[page.path]?.() };
    return new Reader(page, folder, new Shell(cwd, env, folder), await freePort());
  }

  async close(): Promise<void> {
    await this.shell.close();
    await fetch(`${start.sandboxUrl}/_sandbox/faults`, { method: 'DELETE' });
  }

  /** @throws {Error} when the block doesn't do what it shows, or is in a language that isn't known here. */
  async read(block: Block): Promise<void> {
    await this.follow(block.lead, block.place);
    const before = this.#before;
    this.#before = undefined;
    try {
      switch (block.language) {
        case 'sh':
          return await this.#run(block);
        case 'zsh':
        case 'fish':
          return await this.#complete(block);
        case 'ts':
        case 'js':
          return await this.#execute(block);
        case 'json':
          // Under another heading, it is about something else.
          return await this.#compare(block, /^#/m.test(block.lead) ? undefined : before?.stdout);
        case 'http':
          return await this.#compareHeaders(block);
        case 'sql':
          return await this.#query(block);
        case 'python':
        case 'php':
          return; // test/docs/verifying-signatures.check.ts runs them.
        case 'text':
          return await this.#find(block);
        default:
          throw new Error(`a block in a language that this test does not know: "${block.language}"`);
      }
    } catch (error) {
      throw new Error(`${block.place}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }

  /** Does what the page says between two blocks. */
  async follow(words: string, place: string): Promise<void> {
    if (!PAY.test(words)) return;
    const link = [...this.#printed.join('\n').matchAll(/http:\/\/127\.0\.0\.1:\d+\/pay\/\w+/g)].at(-1)?.[0];
    if (link === undefined) throw new Error(`${place}: no link to pay was printed`);
    const { page: checkout } = await visit(browser, link);
    await phoneField(checkout).fill('677 000 000');
    await payButton(checkout).click();
    await arrive(checkout, 'Payment received');
    await checkout.context().close();
  }

  async #run(block: Block): Promise<void> {
    let script: string[] = [];
    let stdout = '';
    const runScript = async () => {
      if (script.every((line) => line.trim() === '')) return;
      const printed = await this.shell.run(script.join('\n'));
      script = [];
      const failures = printed.failures.filter((failure) => !EXIT_CODES.includes(failure));
      if (failures.length > 0) throw new Error(`${failures.join('\n')}\n${printed.stdout}\n${printed.stderr}`);
      stdout += printed.stdout;
      this.#printed.push(printed.stdout);
    };
    for (const line of (await this.#filledIn(block)).split('\n')) {
      if (line in NOT_RUN || BENCHMARK.test(line)) continue;
      const [, ready] = UNTIL_STOPPED.find(([command]) => command.test(line)) ?? [];
      if (ready === undefined) {
        script.push(line);
        continue;
      }
      await runScript();
      this.#running.push(await this.shell.start(line, ready));
    }
    await runScript();
    OUTPUT_OF[block.text.trim().split('\n').at(-1) ?? '']?.(stdout.trim());
    const next = this.page.blocks[this.page.blocks.indexOf(block) + 1];
    const isExpected = next?.language === 'json' && next.text.includes('/docs/errors#');
    if (stdout.includes('"type":"/docs/errors#') && !isExpected) throw new Error(`an error:\n${stdout}`);
    this.#before = { block, stdout };
  }

  /** The block with what the reader is to copy, and with the ports of the running stack. */
  async #filledIn({ text, place }: Block): Promise<string> {
    let filled = start.withPorts(text, this.shopPort).replaceAll('/path/to/sanaga', PROJECT.replace(/\/$/, ''));
    for (const [whole, name, , comment = ''] of text.matchAll(/^(?:export )?(\w+)=(\w+_)?…(.*)$/gm)) {
      const value = await this.#valueOf(name ?? '', whole, comment, place);
      filled = filled.replace(whole, whole.replace(/=(\w+_)?….*/, `=${value}`));
    }
    if (/\bmatch\b/.test(filled)) {
      const { transId } = await reviewOf(place);
      // It asks on a terminal.
      filled = filled.replace(EXAMPLE_TRANSACTION, transId).replace(/^sanaga review match .*$/m, '$& --yes');
    }
    if (filled.includes('…')) throw new Error(`something that the reader can't fill in:\n${filled}`);
    return filled;
  }

  async #valueOf(name: string, whole: string, comment: string, place: string): Promise<string> {
    if (whole.startsWith('APPROVER=sk_…')) return start.secrets.approverKey ?? '';
    if (whole.includes('=sk_…')) return start.secrets.apiKey;
    if (comment.includes('the payment in REVIEW')) return (await reviewOf(place)).id;
    if (comment.includes("the payment's id")) return (await paid()).id;
    if (comment.includes('held.digest')) return this.#lastDigest(place);
    const prefix = /=(\w+_)…/.exec(whole)?.[1] ?? '';
    const answers = this.#printed.filter(
      (one) =>
        (!comment.includes('of the link') || one.includes('"link":')) &&
        (!comment.includes('of the direct collection') || one.includes('"method":"direct"')),
    );
    const ids = answers.join('\n').match(new RegExp(`\\b${prefix}[0-9a-f]{32}\\b`, 'g'));
    const id = ids?.at(-1);
    if (id === undefined) throw new Error(`${name}: no answer on this page has such an id`);
    return id;
  }

  /** The digest in the last answer that has one. */
  #lastDigest(place: string): string {
    const [, digest] = [...this.#printed.join('\n').matchAll(/"digest":"([0-9a-f]{64})"/g)].at(-1) ?? [];
    if (digest === undefined) throw new Error(`${place}: no answer on this page has a digest`);
    return digest;
  }

  /** A line of another shell, which needn't be installed: what it takes from us is there. */
  async #complete({ language, text }: Block): Promise<void> {
    const [command] = new RegExp(`sanaga completion ${language}`).exec(text) ?? [];
    if (command === undefined) throw new Error('is not about completion');
    const { stdout, failures } = await this.shell.run(command);
    expect({ failures, isEmpty: stdout.trim() === '' }).toEqual({ failures: [], isEmpty: false });
  }

  async #execute(block: Block): Promise<void> {
    const [, savedAs] = /save this as `([^`]+)`/.exec(block.lead) ?? [];
    const content = start.withPorts(block.text, this.shopPort);
    if (savedAs !== undefined) {
      const { stdout } = await this.shell.run('pwd');
      return await writeFile(join(stdout.trim(), savedAs), content);
    }
    const folder = await codeFolder(join(this.folder, 'code'));
    const file = join(folder, fileName(this.page.path, this.#codeBlocks++, block.language));
    await writeFile(file, content);
    const child = spawn(process.execPath, [file], {
      cwd: folder,
      env: {
        ...machine(),
        SANAGA_URL: start.apiUrl,
        SANAGA_API_KEY: start.secrets.apiKey,
        SANAGA_WEBHOOK_SECRET: start.webhookSecret,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exit = once(child, 'exit');
    const printed = Promise.all([text(child.stdout), text(child.stderr)]);
    try {
      if (content.includes('.listen(')) await this.#sendWebhooks();
      else expect(await exit).toEqual([0, null]);
    } finally {
      if (child.exitCode === null && child.signalCode === null) child.kill();
      const [stdout, stderr] = await printed;
      expect(stderr.replace(/^.*(ExperimentalWarning|--trace-warnings).*$/gm, '').trim()).toBe('');
      if (content.includes('console.log')) expect(content.includes('catch') || stdout !== '').toBe(true);
      this.#printed.push(stdout);
    }
  }

  /** A receiver of webhooks accepts a real one, and again, and refuses one that was changed. */
  async #sendWebhooks(): Promise<void> {
    for (let tries = 0; tries < 1_800 && (await isPortFree(this.shopPort)); tries++) await pause(100);
    const { headers, body } = (await paid()).webhook;
    const send = async (content: Buffer) => {
      const passedOn = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
      const { status } = await fetch(`http://127.0.0.1:${this.shopPort}/sanaga`, {
        method: 'POST',
        headers: Object.fromEntries(passedOn.map((name) => [name, String(headers[name])])),
        body: new Uint8Array(content),
      });
      return status;
    };
    const forged = Buffer.from(body.toString().replace('"amount":5000', '"amount":9000'));
    expect(forged).not.toEqual(body);
    expect([await send(body), await send(body), await send(forged)]).toEqual([204, 204, 400]);
  }

  /** An example is what the block before it was answered; without one, it is what the API can answer. */
  async #compare({ text: json }: Block, printed: string | undefined): Promise<void> {
    const example: unknown = JSON.parse(start.withPorts(json, this.shopPort));
    if (printed !== undefined) {
      const answer: unknown = JSON.parse(printed);
      expect(likenessOf(asMerchantsSee(answer, example))).toEqual(likenessOf(example));
    }
    await checkExample(example, json, printed !== undefined, this.folder);
  }

  /** Headers are those of a request, an answer, or a webhook. */
  async #compareHeaders({ text: lines }: Block): Promise<void> {
    const real = new Headers(
      lines.includes('webhook-id')
        ? Object.entries((await paid()).webhook.headers).map(([name, value]) => [name, String(value)])
        : [...(await api('GET', '/v1/payments?limit=1')).headers, ['authorization', `Bearer ${start.secrets.apiKey}`]],
    );
    for (const line of lines.trim().split('\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/);
      const [shown = '', isCut] = value.split(/(…)$/);
      const got = real.get(name) ?? '';
      expect([name, headerLikeness(isCut ? got.slice(0, shown.length) : got)]).toEqual([name, headerLikeness(shown)]);
    }
  }

  /** Temporal takes the query. */
  async #query({ text: queries }: Block): Promise<void> {
    for (const query of queries.trim().split('\n')) {
      for await (const _ of temporal.workflow.list({ query, pageSize: 1 })) break;
    }
  }

  /** Waits for the shown lines in the output of programs, such as those in other terminals. */
  async #find({ text: shown }: Block): Promise<void> {
    if (DRAWING.test(shown)) return;
    if (DEMO_TABLE.test(shown)) return compareDemo(shown);
    const like = (printed: string) => printed.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<UUID>');
    const lines = like(start.withPorts(shown, this.shopPort)).trim().split('\n');
    let all = '';
    for (let tries = 0; tries < 1_800; tries++) {
      const running = await Promise.all(this.#running.map((printed) => printed()));
      all = like([...this.#printed, ...running].join('\n'));
      if (lines.every((line) => all.split('\n').includes(line))) return;
      await pause(100);
    }
    throw new Error(`was not printed:\n${shown}\nbut\n${all}`);
  }
}

/** Settings that the reader of a page has beforehand: an operator has the installation's. */
const SETTINGS_OF: Readonly<Record<string, () => NodeJS.ProcessEnv>> = {
  'docs/operators.md': () => ({ WEBHOOK_TOKEN: start.secrets.webhookToken, PID: start.apiPid }),
};

/** Checks of the output of blocks that make a value for a setting, by their last line. */
const OUTPUT_OF: Readonly<Record<string, (stdout: string) => void>> = {
  'echo "shop:sha256-$(printf %s "$secret" | sha256sum | cut -d\' \' -f1):collections+payouts+read"': (stdout) =>
    expect(apiKeys.parse(stdout)).toMatchObject([{ name: 'shop' }]),
  'echo "whsec_$(openssl rand -base64 32)"': (stdout) => {
    const [secret, digest, webhookSecret = ''] = stdout.split('\n');
    expect(secret).toMatch(/^sk_[0-9a-f]{48}$/);
    expect(digest).toMatch(/^[0-9a-f]{64} /);
    expect(isWebhookSecret(webhookSecret)).toBe(true);
  },
};

/**
 * @param isCompared whether it is what a program on the page has answered
 * @throws {Error} when the JSON is nothing that the API, a webhook or a file can hold.
 */
async function checkExample(example: unknown, json: string, isCompared: boolean, folder: string): Promise<void> {
  const fields = z.record(z.string(), z.unknown()).safeParse(example).data ?? {};
  if ('merchants' in fields) {
    const file = join(folder, 'merchants.json');
    await writeFile(file, json);
    merchantsFile.parse(file);
  } else if (fields.object === 'payment') {
    expectInSchema('Payment', json);
  } else if (fields.object === 'balance') {
    expectInSchema('Balance', json);
  } else if (fields.object === 'statement') {
    expectInSchema('Statement', json);
  } else if ('code' in fields) {
    expectInSchema('Problem', json);
  } else if (typeof fields.type === 'string') {
    const received: unknown = JSON.parse((await paid()).webhook.body.toString());
    expect(likenessOf(received)).toEqual(likenessOf(example));
  } else if (json.includes('"delivery": {')) {
    expectInSchema('NotificationList', json);
  } else if (json.includes('"summary"')) {
    expectInSchema('Timeline', json);
  } else if (!isCompared) {
    throw new Error('no schema is known for this');
  }
}

const headerLikeness = (value: string) =>
  value
    .replace(/\b([rt])=\d+/g, '$1=…')
    .replace(/[0-9a-f]{32}/g, '…')
    .replace(/^\d{10}$/, 'time');

/** The table in the README has the demo's scenarios with their outcomes. */
function compareDemo(table: string): void {
  const rows = table.split('\n\n')[0]?.split('\n').slice(1) ?? [];
  const shown = rows.map((row) => {
    const [name, ...columns] = row.split(/ {2,}/);
    return [name, columns.find((one) => /^[A-Z]{6,}$/.test(one))];
  });
  expect(shown).toEqual(scenarios('http://127.0.0.1').map(({ name, expected }) => [name, expected]));
}

const fileName = (path: string, index: number, language: string) =>
  `${path.replace(/\W+/g, '-')}-${index}.${language === 'js' ? 'mjs' : language}`;

async function api(method: string, path: string, body?: unknown, key?: string): Promise<Response> {
  return await fetch(start.apiUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${start.secrets.apiKey}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const paymentSchema = z.object({
  id: z.string(),
  status: z.string(),
  link: z.string().optional(),
  review: z.unknown().optional(),
});

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 1_800; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await pause(100);
  }
  throw new Error('it has not happened within 90 s');
}

/** A payout whose answer, transaction and notification are lost: Sanaga can't know what became of it. */
async function loseSightOfPayout(externalId: string) {
  for (const fault of [
    { fault: 'resetAfterCommit', endpoint: 'payout' },
    { fault: 'listLag', endpoint: 'payout', delayMs: 3_600_000 },
    { fault: 'webhookDrop' },
  ]) {
    await fetch(`${start.sandboxUrl}/_sandbox/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    });
  }
  const order = { amount: 2_500, phone: '677000000', externalId };
  const { id } = paymentSchema.parse(await (await api('POST', '/v1/payouts', order, externalId)).json());
  const transId = await until(async () => {
    const ledger = await readLedger(start.sandboxUrl);
    const found = ledger.find(({ transaction }) => transaction.externalId === id)?.transaction;
    return found?.status === 'SUCCESSFUL' ? found.transId : undefined;
  });
  // The notification comes a moment after.
  await until(async () => {
    const { faults } = z
      .object({ faults: z.array(z.unknown()) })
      .parse(await (await fetch(`${start.sandboxUrl}/_sandbox/faults`)).json());
    return faults.length === 0 ? true : undefined;
  });
  return { id, transId };
}

/** Resolves when the payment is in REVIEW. */
async function reviewed({ id, transId }: { readonly id: string; readonly transId: string }) {
  return await until(async () => {
    const answer = await api('GET', `/v1/payments/${id}`);
    // A worker on a busy machine may be late: then it is to be asked again.
    if (answer.status === 503) return undefined;
    const payment = paymentSchema.parse(await answer.json());
    return payment.review === undefined ? undefined : { id, transId };
  });
}

/** Each page that decides has a payment of its own. */
async function reviewOf(place: string) {
  const review = underReview[place.startsWith('docs/operators.md') ? 0 : 1];
  if (review === undefined) throw new Error('no payment is in REVIEW');
  return await review;
}

/** The link of docs/collecting.md, paid, with the webhook that told of it. */
async function paid() {
  paidLink ??= payLink();
  return await paidLink;
}

async function payLink() {
  const received: Webhook[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await buffer(request) });
    response.writeHead(204).end();
  });
  server.listen(start.listenPort, '127.0.0.1');
  try {
    const order = { method: 'link', amount: 5_000, externalId: 'order-1002', message: 'Two tickets' };
    const created = await api('POST', '/v1/collections', order, 'paid-link');
    const { id, link = '' } = paymentSchema.parse(await created.json());
    await atCheckout(link, { action: 'pay', phone: '677000000' });
    const webhook = await until(async () =>
      received.find(({ headers }) => String(headers['webhook-id']).startsWith(`evt_${id}_succeeded`)),
    );
    return { id, webhook };
  } finally {
    server.close();
  }
}
