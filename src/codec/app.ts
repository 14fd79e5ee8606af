import type { PayloadCodec } from '@temporalio/common';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { z } from 'zod';
import { createPages } from '../http/pages.js';
import { Problem } from '../http/problem.js';
import type { Merchant } from '../settings/merchants.js';
import { DecryptionError } from '../temporal/encryption.js';
import { MalformedError, readPayloads, writePayloads } from './payloads.js';
import { type ReaderOptions, Readers } from './readers.js';
import { STYLE_SOURCE, signInPages } from './sign-in.js';

/** Largest body, in bytes. Temporal's answers are at most half of it, and grow by a third as JSON. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** A browser may remember for this long which origins this server answers, in seconds. */
const PREFLIGHT_S = 600;

export interface CodecServerOptions extends ReaderOptions {
  readonly codec: Pick<PayloadCodec, 'decode'>;
  /** Address of Temporal's Web UI: browsers may call only from its pages. */
  readonly uiUrl?: string | undefined;
  /** Proxies before the server that tell it the caller's address. */
  readonly trustedProxies: number;
  readonly logger: Logger;
}

export interface CodecServer {
  readonly app: Express;
  /** Lets the operators among these merchants read from now on, and nobody else. */
  replaceMerchants(merchants: readonly Merchant[]): void;
}

/**
 * Decrypts payloads for those who may read them. Temporal's Web UI and command line call it by Temporal's protocol for
 * remote codecs. It only reads: without `/encode`, nobody starts or signals a payment from the Web UI.
 */
export function createCodecServer(options: CodecServerOptions): CodecServer {
  const { codec, uiUrl, trustedProxies, logger } = options;
  const readers = new Readers(options);
  const app = createPages({ trustedProxies, styleSource: STYLE_SOURCE });
  app.get('/healthz', (_, response) => void response.json({ status: 'ok' }));

  const paths = ['/decode', '/ui/:token/decode'];
  app.use(paths, allowOrigins(uiUrl === undefined ? [] : originsOf(uiUrl)));
  app.options(paths, (_, response) => void response.status(204).end());
  const identify: RequestHandler = async (request, response, next) => {
    response.locals.reader = await readers.identify(request);
    next();
  };
  const decode: RequestHandler = async (request, response) => {
    const payloads = readPayloads(request.body);
    const decoded = await codec.decode(payloads);
    logger.info({ reader: response.locals.reader, payloads: payloads.length }, 'payloads were read');
    response.json(writePayloads(decoded));
  };
  // Without credentials, the body isn't read.
  app.post(paths, identify, express.json({ limit: MAX_BODY_BYTES }), decode);
  app.use(signInPages(readers, uiUrl));
  app.use((_, response) => {
    response.status(404).json({ message: 'Nothing exists at this address: it is POST /decode.' });
  });
  app.use(sendError(logger));
  return { app, replaceMerchants: (merchants) => readers.replace(merchants) };
}

/** Returns the origins of an address: a machine has two names for itself. */
function originsOf(url: string): string[] {
  const { origin, protocol, hostname, port } = new URL(url);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') return [origin];
  const suffix = port === '' ? '' : `:${port}`;
  return [`${protocol}//127.0.0.1${suffix}`, `${protocol}//localhost${suffix}`];
}

/** Allows pages of these origins to call with credentials, and refuses all others. Only browsers send an origin. */
function allowOrigins(origins: readonly string[]): RequestHandler {
  return (request, response, next) => {
    response.vary('Origin');
    const { origin } = request.headers;
    if (origin === undefined) return next();
    if (!origins.includes(origin)) {
      const message = `Pages of ${origin} may not ask here: the address of Temporal's Web UI is the setting TEMPORAL_UI_URL.`;
      response.status(403).json({ message });
      return;
    }
    response.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-Namespace',
      'Access-Control-Max-Age': String(PREFLIGHT_S),
    });
    next();
  };
}

/** Answers with the status and a message, in the form that Temporal's command line shows. */
function sendError(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const send = (status: number, message: string) => response.status(status).json({ message });
    if (error instanceof Problem) {
      response.set(error.headers);
      // Only fields without secrets: an address may contain a token.
      logger.warn({ caller: request.ip, code: error.code }, 'a reader was refused');
      return send(error.status, error.message);
    }
    if (error instanceof DecryptionError) {
      logger.warn({ err: error }, 'a payload could not be decrypted');
      return send(422, error.message);
    }
    if (error instanceof MalformedError) return send(400, error.message);
    const status = bodyErrorStatus(error);
    if (status === 413) return send(413, `A body may have at most ${MAX_BODY_BYTES} bytes.`);
    if (status !== undefined) return send(status, "The body can't be read.");
    logger.error({ err: error }, 'request failed');
    return send(500, 'An internal error: see the log of the codec server.');
  };
}

/** The status that the parser of bodies gives an error. */
function bodyErrorStatus(error: unknown): number | undefined {
  return z.object({ status: z.int().min(400).max(499) }).safeParse(error).data?.status;
}
