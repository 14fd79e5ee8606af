import type { Payload, PayloadCodec } from '@temporalio/common';
// A CommonJS package whose named exports Node can't detect.
import proto from '@temporalio/proto';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { z } from 'zod';
import { createAuthenticator, requireScope, sameSecret } from '../http/auth.js';
import { ApiError, PROBLEMS, unauthenticated } from '../http/problem.js';
import { RequestLimits } from '../http/request-limits.js';
import type { Merchant } from '../settings/merchants.js';
import { DecryptionError } from '../temporal/encryption.js';
import { type Reader, Sessions, STYLE_SOURCE, signInPages } from './sign-in.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** The largest body, in bytes: what Temporal answers with is at most half of it, and becomes a third longer as JSON. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Payloads in one request. */
export const MAX_PAYLOADS = 10_000;

/** Names in the metadata of one: ours have two or three. To read each takes far longer than to read the body. */
const MAX_NAMES = 20;

/** Attempts without valid credentials within a minute, after which an address is refused. */
export const MAX_FAILURES_PER_MINUTE = 20;

/** How long a browser may remember whom this server answers, in seconds. */
const PREFLIGHT_S = 600;

export interface CodecServerOptions {
  readonly codec: Pick<PayloadCodec, 'decode'>;
  /** Those whose keys have the scope `review` may read. */
  readonly merchants: readonly Merchant[];
  /** The address of Temporal's Web UI, whose pages alone may ask from a browser. */
  readonly uiUrl?: string | undefined;
  /** The secret part of an address at which the Web UI needs no other credentials: `/ui/<token>/decode`. */
  readonly uiToken?: string | undefined;
  /** Proxies before the server that tell it the caller's address. */
  readonly trustedProxies: number;
  readonly logger: Logger;
  /** ms since the epoch */
  readonly now?: () => number;
}

export interface CodecServer {
  readonly app: Express;
  /** Lets the operators among these merchants read from now on, and nobody else. */
  replaceMerchants(merchants: readonly Merchant[]): void;
}

/**
 * Decrypts payloads for those who may read them: Temporal's Web UI and command line ask it by Temporal's protocol for
 * remote codecs. It only reads: there is no `/encode`, so that nobody starts or signals a payment from the Web UI.
 */
export function createCodecServer({
  codec,
  merchants,
  uiUrl,
  uiToken,
  trustedProxies,
  logger,
  now = Date.now,
}: CodecServerOptions): CodecServer {
  const authenticator = createAuthenticator(merchants);
  let readers = readersAmong(merchants);
  const limits = new RequestLimits({
    perMinute: Number.MAX_SAFE_INTEGER,
    concurrent: Number.MAX_SAFE_INTEGER,
    active: Number.MAX_SAFE_INTEGER,
    failures: MAX_FAILURES_PER_MINUTE,
  });
  const sessions = new Sessions(now);
  const origins = uiUrl === undefined ? [] : originsOf(uiUrl);

  const byKey = (authorization: string): Reader => {
    const caller = authenticator.authenticate(authorization);
    requireScope(caller, ['review']);
    return { owner: caller.owner, key: caller.key };
  };
  const signedIn = (request: Request): Reader | undefined => {
    const key = sessions.keyOf(request);
    const owner = key === undefined ? undefined : readers.get(key);
    return key === undefined || owner === undefined ? undefined : { owner, key };
  };
  const byToken = (token: string): Reader => {
    if (uiToken !== undefined && sameSecret(token, uiToken)) return { owner: 'web-ui', key: 'token' };
    throw new ApiError('unauthenticated', 'The address of this codec server has changed: reload the page.');
  };
  /**
   * Attempts with wrong credentials count. The Web UI makes dozens of requests without any before its operator signs
   * in.
   */
  const guarded = (request: Request, find: () => Reader): Promise<Reader> => limits.guard(request.ip ?? '', find);
  const identify = async (request: Request): Promise<Reader> => {
    const { token } = request.params;
    if (token !== undefined) return await guarded(request, () => byToken(String(token)));
    const reader = signedIn(request);
    if (reader !== undefined) return reader;
    const { authorization } = request.headers;
    if (authorization === undefined) throw unauthenticated('missing');
    return await guarded(request, () => byKey(authorization));
  };

  const decode: RequestHandler = async (request, response) => {
    const { owner } = readerIn(response);
    const payloads = toPayloads(request.body);
    const decoded = await codec.decode(payloads);
    logger.info({ reader: owner, payloads: payloads.length }, 'payloads were read');
    response.json({ payloads: decoded.map((payload) => PayloadMessage.fromObject(payload)) });
  };

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustedProxies);
  app.use(helmet(SECURITY), (_, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  });
  app.get('/healthz', (_, response) => {
    response.json({ status: 'ok' });
  });

  const paths = ['/decode', '/ui/:token/decode'];
  app.use(paths, allowOrigins(origins));
  app.options(paths, (_, response) => {
    response.status(204).end();
  });
  app.post(
    paths,
    async (request, response, next) => {
      // Before the body is read: a stranger's isn't.
      response.locals.reader = await identify(request);
      next();
    },
    express.json({ limit: MAX_BODY_BYTES, strict: true }),
    decode,
  );

  const byForm = (request: Request, key: string) => guarded(request, () => byKey(`Bearer ${key}`));
  app.use(signInPages({ sessions, signedIn, byForm, uiUrl }));

  app.use((_, response) => {
    response.status(404).json({ message: 'Nothing exists at this address: it is POST /decode.' });
  });
  app.use(sendError(logger));
  return {
    app,
    replaceMerchants(next) {
      authenticator.replace(next);
      readers = readersAmong(next);
    },
  };
}

const SECURITY = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      styleSrc: [STYLE_SOURCE],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  xDownloadOptions: false,
};

/** The owners of keys with the scope `review`, by the SHA-256 of each. */
function readersAmong(merchants: readonly Merchant[]): ReadonlyMap<string, string> {
  const keys = merchants.flatMap(({ name, keys }) => keys.map((key) => ({ name, ...key })));
  return new Map(keys.filter(({ scopes }) => scopes.includes('review')).map(({ name, sha256 }) => [sha256, name]));
}

/** The origins of an address. A machine has two names for itself. */
function originsOf(url: string): string[] {
  const { origin, protocol, hostname, port } = new URL(url);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') return [origin];
  const suffix = port === '' ? '' : `:${port}`;
  return [`${protocol}//127.0.0.1${suffix}`, `${protocol}//localhost${suffix}`];
}

/** Lets pages of these origins ask with credentials, and refuses all others. What isn't a browser's has no origin. */
function allowOrigins(origins: readonly string[]): RequestHandler {
  return (request, response, next) => {
    response.vary('Origin');
    const { origin } = request.headers;
    if (origin === undefined) return next();
    if (!origins.includes(origin)) {
      response.status(403).json({
        message: `Pages of ${origin} may not ask here: the address of Temporal's Web UI is the setting TEMPORAL_UI_URL.`,
      });
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

function readerIn(response: Response): Reader {
  return response.locals.reader as Reader;
}

const bytes = z.string().transform((text) => Buffer.from(text, 'base64'));

const bodySchema = z.object({
  payloads: z
    .array(
      z.object({
        metadata: z
          .unknown()
          .refine(hasFewNames, { abort: true })
          .pipe(z.record(z.string(), bytes).nullable().default(null)),
        data: bytes.nullable().default(null),
      }),
    )
    .max(MAX_PAYLOADS),
});

function hasFewNames(metadata: unknown): boolean {
  return typeof metadata !== 'object' || Object.keys(metadata ?? {}).length <= MAX_NAMES;
}

/** @throws {MalformedError} */
function toPayloads(body: unknown): Payload[] {
  const read = bodySchema.safeParse(body);
  if (!read.success) throw new MalformedError();
  return read.data.payloads;
}

/** Thrown for a body that isn't as the protocol has it. */
class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

/** Answers with the status and a message, as Temporal's command line shows it. */
function sendError(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const send = (status: number, message: string) => response.status(status).json({ message });
    if (error instanceof ApiError) {
      response.set(error.headers);
      // Of the request, what isn't a secret: an address may have a token in it.
      logger.warn({ caller: request.ip, code: error.code }, 'a reader was refused');
      return send(PROBLEMS[error.code].status, error.message);
    }
    if (error instanceof DecryptionError) {
      logger.warn({ err: error }, 'a payload could not be decrypted');
      return send(422, error.message);
    }
    if (error instanceof MalformedError) {
      return send(
        400,
        `The body must be {"payloads": […]}, with at most ${MAX_PAYLOADS} of them, and ${MAX_NAMES} names in the metadata of each.`,
      );
    }
    const status = bodyErrorStatus(error);
    if (status === 413) return send(413, `A body may have at most ${MAX_BODY_BYTES} bytes.`);
    if (status !== undefined) return send(status, "The body can't be read.");
    logger.error({ err: error }, 'request failed');
    return send(500, 'An internal error: see the log of the codec server.');
  };
}

/** The status that the parser of bodies gives an error. */
function bodyErrorStatus(error: unknown): number | undefined {
  const read = z.object({ status: z.int().min(400).max(499) }).safeParse(error);
  return read.data?.status;
}
