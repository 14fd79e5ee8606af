import { createServer } from 'node:http';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { SERVICES } from '../payments/words/order.js';
import { PROVIDER_CALL_OUTCOMES, PROVIDER_ENDPOINTS, type ProviderCall } from '../provider/calls.js';
import { CODEC_OPERATIONS, CODEC_RESULTS, type CodecCall } from '../temporal/encryption.js';

/*
 * Shared by the metrics of the API and of the worker: the registry, the page that Prometheus reads, the calls
 * to the provider, which both make, and what they encrypt and decrypt. Every series whose labels are known is there at
 * 0 from the start, so that an alert notices the first increase. No label holds an identifier or anything personal.
 */

/** A registry with the metrics of the process itself: CPU, memory, event loop. */
export function createRegistry(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}

/** The page of a process's metrics, at an address of its own. */
export interface MetricsPage {
  stop(): Promise<void>;
}

/**
 * Serves a registry at `http://<address>/metrics`, in Prometheus's text format. It asks nobody for a key: the address
 * must be one that only Prometheus can reach.
 *
 * @param address `host:port`, such as `127.0.0.1:9464` or `[::]:9464`
 * @param more further metrics, in the same format. When it fails, the whole page is 503, so that Prometheus says that
 *   the process can't be read, rather than showing some of its metrics as if they were all.
 * @throws {Error} of the system when the address is in use.
 */
export async function serveMetrics(
  address: string,
  registry: Registry,
  more: () => Promise<string> = async () => '',
): Promise<MetricsPage> {
  const server = createServer(async (request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD') return response.writeHead(405).end();
    try {
      const [own, others] = await Promise.all([registry.metrics(), more()]);
      response.writeHead(200, { 'Content-Type': registry.contentType }).end(own + others);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      response.writeHead(503, { 'Content-Type': 'text/plain' }).end(`${reason}\n`);
    }
  });
  const { hostname, port } = new URL(`http://${address}`);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // A URL leaves out port 80.
    server.listen(Number(port || 80), hostname.replace(/^\[|\]$/g, ''), resolve);
  });
  return {
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Time limits of calls to the provider are between 1 s and 60 s. */
const PROVIDER_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

/** Counts and times the calls to the provider. */
export function providerMetrics(registry: Registry): (call: ProviderCall) => void {
  const registers = [registry];
  const requests = new Counter({
    name: 'sanaga_provider_requests_total',
    help: 'Calls to the provider, by outcome; calls held back while the provider hangs were not sent',
    labelNames: ['service', 'endpoint', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'sanaga_provider_request_duration_seconds',
    help: 'Time from the start of a call to the provider to the end of its answer, or until it was given up',
    labelNames: ['service', 'endpoint'],
    buckets: PROVIDER_BUCKETS,
    registers,
  });
  for (const service of SERVICES) {
    for (const endpoint of PROVIDER_ENDPOINTS[service]) {
      durations.zero({ service, endpoint });
      for (const outcome of PROVIDER_CALL_OUTCOMES) requests.inc({ service, endpoint, outcome }, 0);
    }
  }
  return ({ service, endpoint, outcome, durationMs }) => {
    requests.inc({ service, endpoint, outcome });
    if (outcome !== 'held_back') durations.observe({ service, endpoint }, durationMs / 1_000);
  };
}

/** From the time of one payload to that of a slow key management service. */
const CODEC_BUCKETS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** Counts and times encryption and decryption. */
export function codecMetrics(registry: Registry): (call: CodecCall) => void {
  const registers = [registry];
  const payloads = new Counter({
    name: 'sanaga_codec_payloads_total',
    help: "Payloads of Temporal's, and rows of the book, that were encrypted or decrypted; failed: with all that were in one call, if one of them couldn't be",
    labelNames: ['operation', 'result'],
    registers,
  });
  const durations = new Histogram({
    name: 'sanaga_codec_duration_seconds',
    help: 'How long it took to encrypt or decrypt the payloads of one call, and to get their keys',
    labelNames: ['operation'],
    buckets: CODEC_BUCKETS,
    registers,
  });
  for (const operation of CODEC_OPERATIONS) {
    durations.zero({ operation });
    for (const result of CODEC_RESULTS) payloads.inc({ operation, result }, 0);
  }
  return ({ operation, result, payloads: count, durationMs }) => {
    payloads.inc({ operation, result }, count);
    durations.observe({ operation }, durationMs / 1_000);
  };
}
