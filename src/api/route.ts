import type { z } from 'zod';
import type { Scope } from '../config.js';
import type { Api } from './api.js';
import type { Caller } from './authenticate.js';
import type { RequestRecord } from './request-record.js';

/** What a route answers with; a `text` goes out as it is, of the type that the headers name. */
export type Answer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly json: unknown }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly text: string };

/** A request, as a route sees it. */
export interface Call {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly record: RequestRecord;
  /** Aborted when the caller hangs up. */
  readonly hangUp: AbortSignal;
  /** Every value sent under a header's name, which is given in lower case. */
  headers(name: string): readonly string[];
  /** @throws {ApiError} `body_too_large`. */
  readBody(): Promise<Buffer>;
}

/** A request with an API key, whose body and query have been checked. */
export interface KeyedCall<Body, Query> extends Call {
  readonly caller: Caller;
  readonly body: Body;
  readonly query: Query;
}

interface RouteCommon {
  readonly method: 'get' | 'post';
  /** Express's pattern, such as `/v1/payments/:id`. */
  readonly path: string;
  /** What it does, in a few words, for the API's description. */
  readonly summary: string;
}

/** A call that anyone may make. */
export interface OpenRoute extends RouteCommon {
  readonly scopes?: undefined;
  answer(call: Call, api: Api): Promise<Answer> | Answer;
}

/** A call for those whose API key has one of the scopes. */
export interface KeyedRoute<Body = unknown, Query = unknown> extends RouteCommon {
  readonly scopes: readonly [Scope, ...Scope[]];
  /** Without it, a body is not read. */
  readonly body?: z.ZodType<Body>;
  /** Without it, query parameters are not looked at. */
  readonly query?: z.ZodType<Query>;
  answer(call: KeyedCall<Body, Query>, api: Api): Promise<Answer>;
}

export type Route = OpenRoute | KeyedRoute;

/**
 * A route for holders of an API key; its handler's types follow from its schemas.
 *
 * @example keyedRoute({ method: 'get', path: '/v1/balance', scopes: ['balance'], query, answer: ({ query }) => … })
 */
export const keyedRoute = <Body = undefined, Query = undefined>(route: KeyedRoute<Body, Query>): Route =>
  route;
