import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { atCheckout } from '../../stack/demo/payer.js';
import { freePort } from '../../stack/processes/ports.js';
import { type Sample, samplesOf, sumOf, withoutFractions } from '../support/metrics-page.js';
import { alerts, namedSeries, queries } from '../support/monitoring.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/** Durations that the SDK has measured only once there was something to measure; no alert goes by them. */
const MEASURED_LATER = /^temporal_\w+_latency_seconds_bucket$/;

/** Requests that an OpenTelemetry collector received. */
const exported: { readonly path: string; readonly type: string; readonly body: Buffer }[] = [];
const collector = createServer(async (request, response) => {
  const { url: path = '', headers } = request;
  exported.push({ path, type: headers['content-type'] ?? '', body: await buffer(request) });
  response.end();
});

let running: RunningStack;
let paidId: string;
let pages: () => Promise<{ readonly api: string; readonly worker: string }>;
let atStart: readonly Sample[];
let later: readonly Sample[];
beforeAll(async () => {
  const [api, worker] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  running = await bringUp({
    API_METRICS_ADDRESS: api,
    WORKER_METRICS_ADDRESS: worker,
    FLOAT_WARN_BELOW: '100',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  });
  const read = async (address: string) => (await fetch(`http://${address}/metrics`)).text();
  pages = async () => ({ api: await read(api), worker: await read(worker) });
  atStart = await samples();

  const paid = await running.merchant.create('/v1/collections', { method: 'link', amount: 500 }, 'a link');
  await atCheckout(paid.link ?? '', { action: 'pay', phone: '677123000' });
  paidId = paid.id;
  const payout = { amount: 700, phone: '677000000' };
  const ids = [paid.id, (await running.merchant.create('/v1/payouts', payout, 'a payout')).id];
  for (const id of ids) await running.merchant.waitUntil(id, ({ final }) => final, { limitMs: 60_000 });
  later = await samples();
});
afterAll(async () => {
  await running?.stop();
  collector.closeAllConnections();
  collector.close();
});

async function samples(): Promise<Sample[]> {
  const { api, worker } = await pages();
  return [...samplesOf(api), ...samplesOf(worker)];
}

/** Lists the series that aren't on the pages. */
function missing(text: string, found: readonly Sample[]) {
  return namedSeries(text).filter(
    ({ name, labels }) =>
      !found.some(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      ),
  );
}

describe('the pages of the metrics', () => {
  it('have every series that an alert goes by, from the start', () => {
    expect(namedSeries(alerts).length).toBeGreaterThan(20);
    expect(missing(alerts, atStart)).toEqual([]);
  });

  it('have every series that the dashboard shows, from the start but for what has yet to be measured', () => {
    const absent = queries.flatMap(({ expr }) => missing(expr, atStart));
    expect(absent.filter(({ name }) => !MEASURED_LATER.test(name))).toEqual([]);
    expect(queries.flatMap(({ expr }) => missing(expr, later))).toEqual([]);
  });

  it('begin at 0', () => {
    // The schedules that a worker makes at its start are encrypted.
    const counters = atStart.filter(({ name }) => /^sanaga_(?!http_|codec_)\w+(_total|_count|_open)$/.test(name));
    expect(counters.length).toBeGreaterThan(100);
    expect(counters.filter(({ value }) => value !== 0)).toEqual([]);
  });

  it('count the payments that were made', async () => {
    const { api, worker } = await pages();
    const outcomes = (kind: string) =>
      sumOf(worker, 'sanaga_payment_outcome_seconds_count', { kind, status: 'SUCCESSFUL' });
    // A workflow task that is repeated counts again.
    for (const kind of ['collection', 'payout']) expect(outcomes(kind)).toBeGreaterThanOrEqual(1);
    expect(sumOf(worker, 'sanaga_provider_requests_total', { endpoint: 'payout', outcome: 'succeeded' })).toBe(1);
    expect(sumOf(api, 'sanaga_http_requests_total', { route: '/v1/payouts', method: 'POST' })).toBe(1);
    expect(sumOf(api, 'sanaga_provider_webhooks_total', { result: 'taken' })).toBeGreaterThanOrEqual(1);
  });

  it('count what was encrypted and decrypted for them', async () => {
    for (const page of Object.values(await pages())) {
      for (const operation of ['encrypt', 'decrypt']) {
        const count = (result: string) => sumOf(page, 'sanaga_codec_payloads_total', { operation, result });
        expect(count('succeeded')).toBeGreaterThan(0);
        expect(count('failed')).toBe(0);
      }
    }
  });

  it('count a workflow task that fails, in a series that was there at 0', async () => {
    const failures = 'temporal_workflow_task_execution_failed';
    const series = atStart.filter(({ name }) => name === failures);
    expect(series.every(({ value }) => value === 0)).toBe(true);
    const index = await readFile(new URL('../../src/workflows/index.ts', import.meta.url), 'utf8');
    const types = [...index.matchAll(/^export \{ (.+) \} from/gm)].flatMap(([, names = '']) => names.split(', '));
    expect(new Set(series.map(({ labels }) => labels.workflow_type))).toEqual(new Set(types));
    // Encrypted with a key that nobody has: its task fails until somebody has it.
    const metadata = { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from('lost') };
    await running.client.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId: 'broken',
      workflowType: { name: 'payOut' },
      taskQueue: { name: 'payments' },
      input: { payloads: [{ metadata, data: Buffer.from('unreadable') }] },
      requestId: randomUUID(),
    });
    const handle = running.client.workflow.getHandle('broken');
    while (sumOf((await pages()).worker, failures) === 0) await pause(100);
    await handle.terminate();
    const now = (await samples()).filter(({ name }) => name === failures);
    expect(now.map(({ labels }) => labels)).toEqual(series.map(({ labels }) => labels));
  });

  it('name no payment, no person, no key and no merchant', async () => {
    const { api, worker } = await pages();
    const { apiKey, webhookToken } = running.secrets;
    for (const page of [api, worker].map(withoutFractions)) {
      expect(page).not.toMatch(/(col|pay)_[0-9a-f]{32}/);
      for (const secret of ['677123000', '677000000', apiKey, webhookToken, '"merchant"']) {
        expect(page.includes(secret) ? secret : 'nothing').toBe('nothing');
      }
    }
  });

  it("are not at the merchants' address", async () => {
    expect((await running.call('GET', '/metrics')).status).toBe(404);
  });
});

describe('the traces', () => {
  it('come from the API and the worker, with one id for a payment, which follows from its own', async () => {
    const traceId = createHash('sha256').update(paidId).digest().subarray(0, 16);
    const senders = () =>
      ['sanaga-api', 'sanaga-worker'].filter((name) =>
        exported.some(({ body }) => body.includes(name) && body.includes(traceId)),
      );
    for (let tries = 0; tries < 1_800 && senders().length < 2; tries++) await pause(100);
    expect(senders()).toEqual(['sanaga-api', 'sanaga-worker']);
    expect(new Set(exported.map(({ path, type }) => `${path} ${type}`))).toEqual(
      new Set(['/v1/traces application/x-protobuf']),
    );
  });

  it('name no person and no secret', () => {
    const { apiKey, webhookToken } = running.secrets;
    for (const secret of ['677123000', '677000000', apiKey, webhookToken]) {
      expect(exported.some(({ body }) => body.includes(secret)) ? secret : 'nothing').toBe('nothing');
    }
  });
});
