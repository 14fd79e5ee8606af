import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '../../client/index.js';
import { DEFAULT_LISTEN_PORT, listenUrl } from '../../stack/start/start-settings.js';
import { amountOf, note, paint, print, printJson, shown, statusOf, timeOf } from '../output.js';
import { EXIT, UsageError, untilDone } from '../run.js';
import { findListenTarget } from '../target.js';

interface ListenOptions {
  readonly port?: number;
  readonly secret?: string;
  readonly forwardTo?: string;
  readonly json?: boolean;
}

/** Time limit of a forwarded answer, in ms: Sanaga waits 5 s for ours. */
const FORWARD_LIMIT_MS = 4_500;

/** Largest body, in bytes: larger ones aren't Sanaga's. */
const MAX_BODY_BYTES = 1024 * 1024;

/** The command `listen`: a webhook address on this machine. */
export function addListenCommand(program: Command): void {
  program
    .command('listen')
    .summary('receive your notifications on this machine, and show or forward them')
    .description(
      'Receives the notifications that Sanaga sends to your webhook address, verifies their signatures, shows them and, with ' +
        '--forward-to, passes them on unchanged and answers Sanaga as that address does. In the folder of a running ' +
        '"sanaga start", it receives what that sends. Otherwise, it prints the settings that make Sanaga send them here.',
    )
    .option(
      '--port <port>',
      `port to listen on, at 127.0.0.1 (default: that of the running "sanaga start", or ${DEFAULT_LISTEN_PORT})`,
      readPort,
    )
    .option(
      '--secret <secret>',
      'secret that signs them: whsec_… (default: $SANAGA_WEBHOOK_SECRET, or that of the running "sanaga start", or a new one)',
    )
    .option('--forward-to <address>', 'pass them on to this address')
    .option('--json', 'print each notification as a line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  sanaga listen
  sanaga listen --forward-to http://127.0.0.1:8080/sanaga
  SANAGA_WEBHOOK_SECRET=whsec_… sanaga listen --json | jq .data.status

Exit code: 0 after Ctrl-C.`,
    )
    .action((options: ListenOptions) => untilDone((stop) => listen(options, stop), options));
}

async function listen(options: ListenOptions, stop: AbortSignal): Promise<number> {
  const given = options.secret ?? (process.env.SANAGA_WEBHOOK_SECRET || undefined);
  const found = await findListenTarget();
  // On another port, none of what it sends arrives, and its secret is of no use.
  const start = (options.port ?? found?.port) === found?.port ? found : undefined;
  const secret = given ?? start?.secret ?? `whsec_${randomBytes(32).toString('base64')}`;
  const secrets = secret.split(',').map((one) => one.trim());
  if (!secrets.every((one) => /^(whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/.test(one))) {
    throw new UsageError('the secret must be whsec_ and the base64 of 24 to 64 bytes');
  }
  const { forwardTo } = options;
  if (forwardTo !== undefined && !/^https?:$/.test(URL.canParse(forwardTo) ? new URL(forwardTo).protocol : '')) {
    throw new UsageError('--forward-to must be an http or https address');
  }
  const receiver = { secrets, forwardTo, json: options.json ?? false, seen: new Set<string>() };
  const server = createServer((request, response) => {
    receive(request, receiver).then(
      (status) => response.writeHead(status).end(),
      (error: unknown) => {
        note(`not received: ${error instanceof Error ? error.message : String(error)}`);
        response.writeHead(500).end();
      },
    );
  });
  const wanted = options.port ?? start?.port ?? DEFAULT_LISTEN_PORT;
  server.listen(wanted, '127.0.0.1');
  await once(server, 'listening').catch((error: unknown) => {
    const todo =
      start !== undefined
        ? 'is another "sanaga listen" running? If not, set LISTEN_PORT to another port before "npm start"'
        : 'choose another with --port';
    throw new UsageError(`port ${wanted} can't be listened on (${String(error)}): ${todo}`);
  });
  const address = server.address();
  const port = (typeof address === 'object' ? address?.port : undefined) ?? wanted;
  const isStarts = start !== undefined && secrets.includes(start.secret);
  note(isStarts ? greeting(listenUrl(port)) : instructions(listenUrl(port), secret, given !== undefined));
  if (!stop.aborted) await once(stop, 'abort');
  server.closeAllConnections();
  server.close();
  return EXIT.ok;
}

function greeting(url: string): string {
  return `Listening on ${url} for the notifications of the running "npm start". Ctrl-C ends it.

One that was due before may come minutes later. "sanaga notifications <id>" shows when. To have it sent at once:

  npx sanaga notifications resend <id> <number>
`;
}

function instructions(url: string, secret: string, isGiven: boolean): string {
  return `Listening on ${url} for notifications. Ctrl-C ends it.

Sanaga sends them here when its worker has these settings; in the project's folder, for example:

  export MERCHANT_WEBHOOK_URL=${url}
  export MERCHANT_WEBHOOK_SECRET='${isGiven ? '<the secret that you gave>' : secret}'
  npm start
${isGiven ? '' : "\nThe secret is new. To use it again: export SANAGA_WEBHOOK_SECRET='…'\n"}`;
}

interface Receiver {
  readonly secrets: readonly string[];
  readonly forwardTo: string | undefined;
  readonly json: boolean;
  /** Ids of the notifications that have arrived. */
  readonly seen: Set<string>;
}

/** @returns the status to answer with. */
async function receive(request: IncomingMessage, { secrets, forwardTo, json, seen }: Receiver): Promise<number> {
  if (request.method !== 'POST') return 405;
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return 413;
  const body = await buffer(request);
  let event: WebhookEvent;
  try {
    event = await verifyWebhook(body, request.headers, secrets);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    note(`${paint('red', 'refused')}  ${error.message}`);
    return 400;
  }
  const receivedAt = new Date().toISOString();
  const isRepeated = seen.has(event.id);
  seen.add(event.id);
  const forwarded = forwardTo === undefined ? undefined : await forward(forwardTo, request, body);
  if (json) printJson({ ...event, receivedAt, ...(forwarded && { forwarded }) });
  else {
    const passedOn = forwarded && `${forwardTo} ${forwarded.status ?? forwarded.error}`;
    print(eventLine(shown(event), receivedAt, isRepeated, passedOn));
  }
  if (forwarded === undefined) return 204;
  // Sanaga tries again then, as it would without anybody in between.
  return forwarded.status ?? 502;
}

interface Forwarded {
  readonly status?: number;
  readonly error?: string;
}

async function forward(address: string, { headers }: IncomingMessage, body: Buffer): Promise<Forwarded> {
  const passedOn = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const entries = passedOn.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)] as [string, string]];
  });
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers: entries,
      body: Uint8Array.from(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_LIMIT_MS),
    });
    await answer.body?.cancel();
    return { status: answer.status };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    return { error: cause instanceof Error && cause.name === 'TimeoutError' ? 'no answer in time' : code };
  }
}

/**
 * Formats an event with the time of its arrival and its own, which can be much earlier. A repeated notification is
 * marked, as it would look like a second payment.
 */
function eventLine(
  { type, timestamp, data }: WebhookEvent,
  receivedAt: string,
  isRepeated: boolean,
  forwarded: string | undefined,
): string {
  return [
    paint('dim', timeOf(receivedAt)),
    paint('bold', type.padEnd('payment.attempt_failed'.length)),
    data.id,
    amountOf(data),
    statusOf(data),
    ...(data.externalId === undefined ? [] : [data.externalId]),
    paint('dim', `of ${timeOf(timestamp)}`),
    ...(isRepeated ? ['(again)'] : []),
    ...(forwarded === undefined ? [] : [paint('dim', `→ ${forwarded}`)]),
  ].join('  ');
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('It must be a port, from 0 to 65535.');
  return port;
}
