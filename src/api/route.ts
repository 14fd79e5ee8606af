import type { z } from 'zod';
import type { Caller } from '../http/auth.js';
import type { RequestRecord } from '../http/request-log.js';
import type { ProblemCode } from '../schemas/problems.js';
import type { Scope } from '../settings/merchants.js';
import type { ApiContext } from './context.js';

/** A response: JSON, or text that is sent as it is, with the content type that the headers name. */
export interface ApiResponse {
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
  /** The situations in which it is returned, as a sentence. */
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

/** A handler's result: one of the responses that its route describes. */
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
  /** The caller's own address. */
  readonly ip: string | undefined;
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
  /** Its effect, in a few words. */
  readonly summary: string;
  /** The rest of what a caller has to know, in Markdown. */
  readonly description?: string;
  /** The name of the call in generated clients. */
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
  /** The description of the body, which the handler reads itself. */
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
  /** Without it, a body is refused. */
  readonly body?: z.ZodType<Body>;
  /** Bodies by name. The schema accepts each. */
  readonly examples?: Readonly<Record<string, RequestExample>>;
  /** An object with a schema for each parameter. Without it, all are refused. */
  readonly query?: z.ZodType<Query>;
  /** It takes an Idempotency-Key header, which the schema accepts. */
  readonly idempotencyKey?: { readonly schema: z.ZodType<string>; readonly required: boolean };
  /** Returns `true` for a request that takes no turn of its merchant's: it waits for long, and keeps no worker busy. */
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
