import { once } from 'node:events';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import type { EarlyNotifications } from '../engine/early-notifications.js';
import type { LinkMaker } from '../engine/links.js';
import type { LimitContext } from '../engine/payout-limits.js';
import type { HintContext } from '../engine/provider-notifications.js';
import type { ProviderRecords } from '../engine/provider-records.js';
import type { StartContext } from '../engine/start-payment.js';
import { type Authenticator, type Caller, requireScope } from '../http/auth.js';
import { readBytes, readJson, validate, validateQuery } from '../http/body.js';
import type { Metrics } from '../http/metrics.js';
import type { NotificationLimits } from '../http/notification-limits.js';
import { methodNotAllowed, type ProblemCode } from '../http/problem.js';
import type { RequestLimits } from '../http/request-limits.js';
import { type RequestRecord, recordOf } from '../http/request-log.js';
import type { Service } from '../payments/words/order.js';
import type { BalanceAnswer } from '../payments/words/outcome.js';
import type { Scope } from '../settings/merchants.js';

/** Reads the balance of one of the provider's services. */
export interface BalanceReader {
  balance(): Promise<BalanceAnswer>;
}

/** The provider's services as the API uses them: it reads both balances, and makes links. */
export interface ApiProviders {
  readonly collection: BalanceReader & LinkMaker;
  readonly payout: BalanceReader;
}

/** A balance, or why there is none, and when the provider was asked, in ms since the epoch. */
export interface KnownBalance {
  readonly answer: BalanceAnswer;
  readonly asOf: number;
}

/** Reads the balance of a service for all callers together. */
export interface SharedBalance {
  balance(): Promise<KnownBalance>;
}

/** Temporal's Web UI, where payments' workflows can be looked at. */
export interface WebUi {
  readonly url?: string | undefined;
  readonly namespace: string;
}

/** What the handlers of routes work with. */
export interface ApiContext extends StartContext, HintContext, LimitContext {
  readonly namespace: string;
  readonly ui: WebUi;
  readonly providers: Readonly<Record<Service, SharedBalance>>;
  readonly providerRecords: ProviderRecords;
  readonly webhookToken: string;
  readonly metrics: Metrics;
  readonly limits: NotificationLimits;
  /**
   * Whether the process can serve, up to a second old.
   *
   * @returns a warning for operators, if there is something to look at
   * @throws {ApiError} `temporarily_unavailable` when it can't.
   */
  readiness(): Promise<string | undefined>;
  /** The OpenAPI document, as JSON. */
  openApi(): Buffer;
  readonly requestLimits: RequestLimits;
  readonly early: EarlyNotifications;
}

/** A response: JSON, or text that is sent as it is, with the content type that the headers name. */
interface ApiResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string | Buffer;
  /** A long text, made piece by piece as the caller takes it. */
  readonly pieces?: AsyncIterable<string>;
}

/** Headers that only some responses have, beside those of problems. */
export type ResponseHeader = 'Location' | 'Idempotent-Replayed' | 'Link';

/** A response that a route can give, problems apart: JSON of a schema, text in its place, or text. */
type ResponseDescription = {
  /** When it is given, as a sentence. */
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  /** Headers that some of these responses have. */
  readonly optionalHeaders?: readonly ResponseHeader[];
} & ({ readonly schema: z.ZodType; readonly alternative?: string } | { readonly contentType: string });

/** A route's responses by status. */
export type Responses = Readonly<Record<number, ResponseDescription>>;

type Content<Description> = Description extends {
  readonly schema: infer Schema extends z.ZodType;
  readonly alternative: string;
}
  ? { readonly json: z.output<Schema> } | { readonly text: string } | { readonly pieces: AsyncIterable<string> }
  : Description extends { readonly schema: infer Schema extends z.ZodType }
    ? { readonly json: z.output<Schema> }
    : { readonly text: string | Buffer };

/** What a handler may return: one of the responses that its route describes. */
export type ResponseOf<Described extends Responses> = ApiResponse &
  {
    [Status in keyof Described & number]: {
      readonly status: Status;
    } & Content<Described[Status]>;
  }[keyof Described & number];

/** A request, as a route's handler sees it. */
export interface ApiRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Path and query, as they were sent. */
  readonly address: string;
  readonly record: RequestRecord;
  /** Aborted when the caller hangs up. */
  readonly hangUp: AbortSignal;
  /** Every value sent for a header. Give its name in lower case. */
  headers(name: string): readonly string[];
  /** The first of these content types that the caller prefers. */
  preferred(types: readonly string[]): string | undefined;
  /** The body, without its Content-Encoding being undone. @throws {ApiError} `body_too_large`, `invalid_request`. */
  readBytes(): Promise<Buffer>;
}

/** A request with an API key, whose body and query match the route's schemas. */
export interface AuthenticatedRequest<Body, Query> extends ApiRequest {
  readonly caller: Caller;
  readonly body: Body;
  readonly query: Query;
}

/** The parts that the OpenAPI document is divided into. */
export type RouteTag =
  | 'Collections'
  | 'Payouts'
  | 'Payments'
  | 'Notifications'
  | 'Balance'
  | 'Statements'
  | 'Operations';

interface RouteCommon {
  readonly method: 'get' | 'post';
  /** Express's pattern, such as `/v1/payments/:id`. */
  readonly path: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** The rest of what a caller has to know, in Markdown. */
  readonly description?: string;
  /** What generated clients call it. */
  readonly operationId: string;
  /** Without it, the OpenAPI document leaves the route out. */
  readonly tag?: RouteTag;
  readonly responses: Responses;
  /** Codes of the problems that it responds with, beside those that follow from its other properties. */
  readonly problems?: readonly ProblemCode[];
}

/** A route that needs no API key. */
export interface PublicRoute<Response extends ApiResponse = ApiResponse> extends RouteCommon {
  readonly scopes?: undefined;
  /** What is described as its body, which the handler reads itself. */
  readonly rawBody?: z.ZodType;
  /** Other methods that the handler takes. No description shows them. */
  readonly alsoTakes?: readonly ('get' | 'patch' | 'put')[];
  handle(request: ApiRequest, context: ApiContext): Promise<Response> | Response;
}

/** A request body to show, as a caller would send it. */
export interface RequestExample {
  readonly summary: string;
  readonly value: unknown;
}

/** A route for API keys that have one of the scopes. */
export interface AuthenticatedRoute<Body = unknown, Query = unknown, Response extends ApiResponse = ApiResponse>
  extends RouteCommon {
  readonly scopes: readonly [Scope, ...Scope[]];
  /** Without it, the body isn't read. */
  readonly body?: z.ZodType<Body>;
  /** Bodies by name, each of which the schema accepts. */
  readonly examples?: Readonly<Record<string, RequestExample>>;
  /** An object with a schema for each parameter. Without it, query parameters are ignored. */
  readonly query?: z.ZodType<Query>;
  /** It takes an Idempotency-Key header, which the schema accepts. */
  readonly idempotencyKey?: { readonly schema: z.ZodType<string>; readonly required: boolean };
  /** Whether a request is not to take a turn of its merchant's, because it waits for long and keeps no worker busy. */
  isOutOfTurn?(query: Query): boolean;
  handle(request: AuthenticatedRequest<Body, Query>, context: ApiContext): Promise<Response>;
}

export type Route = PublicRoute | AuthenticatedRoute;

/** A route that needs no API key. The type of its handler follows from its responses. */
export const publicRoute = <const Described extends Responses>(
  route: PublicRoute<ResponseOf<NoInfer<Described>>> & { readonly responses: Described },
): Route => route;

/**
 * A route that needs an API key. The types of its handler follow from its schemas.
 *
 * @example authenticatedRoute({ method: 'get', path: '/v1/balance', scopes: ['balance'], query, responses: {
 * 200: { description: 'The balance.', schema: balanceSchema } }, handle: ({ query }) => … })
 */
export const authenticatedRoute = <const Described extends Responses, Body = undefined, Query = undefined>(
  route: AuthenticatedRoute<Body, Query, ResponseOf<NoInfer<Described>>> & { readonly responses: Described },
): Route => route;

/** Adds the routes to the app. A body is read only once the key and the query are found valid. */
export function mountRoutes(
  app: Express,
  routes: readonly Route[],
  context: ApiContext,
  authenticator: Authenticator,
): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const mounted = app.route(path);
    for (const route of here) {
      const others = route.scopes === undefined ? (route.alsoTakes ?? []) : [];
      const handler = toHandler(route, context, authenticator);
      for (const method of [route.method, ...others]) mounted[method](handler);
    }
    const allow = here.map(({ method }) => (method === 'get' ? 'GET, HEAD' : 'POST')).join(', ');
    mounted.all((request) => {
      recordOf(request).route = path;
      throw methodNotAllowed(allow);
    });
  }
}

function toHandler(route: Route, context: ApiContext, authenticator: Authenticator): RequestHandler {
  return async (request, response) => {
    recordOf(request).route = route.path;
    await send(response, await handle(route, request, response, context, authenticator));
  };
}

async function handle(
  route: Route,
  request: Request,
  response: Response,
  context: ApiContext,
  authenticator: Authenticator,
): Promise<ApiResponse> {
  const received = toApiRequest(request, response);
  if (route.scopes === undefined) return await route.handle(received, context);

  const { requestLimits } = context;
  const caller = await requestLimits.attempts.guard(request.ip ?? '', () =>
    authenticator.authenticate(request.headers.authorization),
  );
  received.record.caller = caller.owner;
  const admission = await requestLimits.admit(caller.key);
  // A request is in progress until its caller has taken the answer, or has gone: until then, it fills the memory.
  if (response.closed) admission.leave();
  else response.once('close', () => admission.leave());
  response.set(admission.headers);
  requireScope(caller, route.scopes);
  const query = route.query && validateQuery(route.query, request.query);
  const body = route.body && validate(route.body, await readJson(request, response), 'body');
  const run = () => route.handle({ ...received, caller, query, body }, context);
  if (route.isOutOfTurn?.(query)) return await run();
  return await requestLimits.inTurn(`${route.method} ${caller.owner}`, run);
}

function toApiRequest(request: Request, response: Response): ApiRequest {
  const hangUp = new AbortController();
  response.once('close', () => hangUp.abort());
  const params = Object.entries(request.params).map(([name, value]) => [name, String(value)]);
  return {
    method: request.method,
    params: Object.fromEntries(params),
    address: request.originalUrl,
    record: recordOf(request),
    hangUp: hangUp.signal,
    headers: (name) => request.headersDistinct[name] ?? [],
    preferred: (types) => request.accepts([...types]) || undefined,
    readBytes: () => readBytes(request, response),
  };
}

async function send(response: Response, answer: ApiResponse): Promise<void> {
  response.status(answer.status).set(answer.headers ?? {});
  if (answer.pieces !== undefined) await sendPieces(response, answer.pieces);
  else if (answer.text !== undefined) response.send(answer.text);
  else response.type('application/json').send(JSON.stringify(answer.json));
}

/** How long a caller may take nothing of a long answer, in ms: what is still to be sent of it fills the memory. */
const STALLED_AFTER_MS = 20_000;

/**
 * Makes each piece when the one before was taken. A caller who has gone, or takes no more, ends it, and is no error.
 */
async function sendPieces(response: Response, pieces: AsyncIterable<string>): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  for await (const piece of pieces) {
    if (response.closed) return;
    if (response.write(piece)) continue;
    try {
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(STALLED_AFTER_MS)]);
      await once(response, 'drain', { signal });
    } catch {
      response.destroy();
      return;
    }
  }
  response.end();
}
