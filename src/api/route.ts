import type { Express, Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import type { Scope } from '../merchants.js';
import type { Service } from '../payments/order.js';
import type { BalanceAnswer } from '../payments/outcome.js';
import { type Authenticator, type Caller, requireScope } from './http/auth.js';
import { readBody, readJson, refuseRepeated, validate } from './http/body.js';
import type { Limits } from './http/limits.js';
import type { Metrics } from './http/metrics.js';
import { methodNotAllowed } from './http/problem.js';
import type { RequestLimits } from './http/request-limits.js';
import { type RequestRecord, recordOf } from './http/request-log.js';
import type { LimitContext } from './payments/payout-limits.js';
import type { HintContext } from './payments/provider-notifications.js';
import type { StartContext } from './payments/start-payment.js';

/** Reads the balance of one of the provider's services. */
export interface BalanceReader {
  balance(): Promise<BalanceAnswer>;
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
  readonly webhookToken: string;
  readonly metrics: Metrics;
  readonly limits: Limits;
  readonly requestLimits: RequestLimits;
}

/** A response. `text` is sent as it is, with the content type that the headers name. */
export type ApiResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
} & ({ readonly json: unknown } | { readonly text: string });

/** A request, as a route's handler sees it. */
export interface ApiRequest {
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
  /** @throws {ApiError} `body_too_large`. */
  readBody(): Promise<Buffer>;
}

/** A request with an API key, whose body and query match the route's schemas. */
export interface AuthenticatedRequest<Body, Query> extends ApiRequest {
  readonly caller: Caller;
  readonly body: Body;
  readonly query: Query;
}

interface RouteCommon {
  readonly method: 'get' | 'post';
  /** Express's pattern, such as `/v1/payments/:id`. */
  readonly path: string;
  /** What it does, in a few words. */
  readonly summary: string;
}

/** A route that needs no API key. */
export interface PublicRoute extends RouteCommon {
  readonly scopes?: undefined;
  handle(request: ApiRequest, context: ApiContext): Promise<ApiResponse> | ApiResponse;
}

/** A route for API keys that have one of the scopes. */
export interface AuthenticatedRoute<Body = unknown, Query = unknown> extends RouteCommon {
  readonly scopes: readonly [Scope, ...Scope[]];
  /** Without it, the body isn't read. */
  readonly body?: z.ZodType<Body>;
  /** Without it, query parameters are ignored. */
  readonly query?: z.ZodType<Query>;
  handle(request: AuthenticatedRequest<Body, Query>, context: ApiContext): Promise<ApiResponse>;
}

export type Route = PublicRoute | AuthenticatedRoute;

/**
 * A route that needs an API key. The types of its handler follow from its schemas.
 *
 * @example authenticatedRoute({ method: 'get', path: '/v1/balance', scopes: ['balance'], query, handle: ({
 * query }) => … })
 */
export const authenticatedRoute = <Body = undefined, Query = undefined>(
  route: AuthenticatedRoute<Body, Query>,
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
    for (const route of here) mounted[route.method](toHandler(route, context, authenticator));
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
    send(response, await handle(route, request, response, context, authenticator));
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
  const caller = await requestLimits.guard(request.ip ?? '', () =>
    authenticator.authenticate(request.headers.authorization),
  );
  received.record.caller = caller.owner;
  const admission = await requestLimits.admit(caller.key);
  try {
    response.set(admission.headers);
    requireScope(caller, route.scopes);
    if (route.query) refuseRepeated(request.query);
    const query = route.query && validate(route.query, request.query, 'query');
    const body = route.body && validate(route.body, await readJson(request, response), 'body');
    return await route.handle({ ...received, caller, query, body }, context);
  } finally {
    admission.leave();
  }
}

function toApiRequest(request: Request, response: Response): ApiRequest {
  const hangUp = new AbortController();
  response.once('close', () => hangUp.abort());
  const params = Object.entries(request.params).map(([name, value]) => [name, String(value)]);
  return {
    params: Object.fromEntries(params),
    address: request.originalUrl,
    record: recordOf(request),
    hangUp: hangUp.signal,
    headers: (name) => request.headersDistinct[name] ?? [],
    preferred: (types) => request.accepts([...types]) || undefined,
    readBody: () => readBody(request, response),
  };
}

function send(response: Response, answer: ApiResponse): void {
  response.status(answer.status).set(answer.headers ?? {});
  if ('text' in answer) response.send(answer.text);
  else response.type('application/json').send(JSON.stringify(answer.json));
}
