import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import express, { type Request, type Response, Router } from 'express';
import { credentialHeaders, identifierSchema } from '../../src/provider/schemas.js';
import type { ServiceKind } from '../entry.js';
import { ContentFaults } from '../faults/content-faults.js';
import { type FaultInjector, type InjectionPoint, injectionPoint } from '../faults/fault-injector.js';
import { faultyReply, jsonReply, type Reply } from '../faults/response-faults.js';
import type { Ledger } from '../ledger.js';
import type { Log } from '../log.js';
import type { PostCounter, RequestCounter } from '../request-counts.js';
import { LedgerFullError } from '../transaction-store.js';
import { directPay, expirePay, initiatePay, payout } from './commands.js';
import {
  ApiError,
  type Endpoint,
  type EndpointContext,
  type EndpointName,
  type EndpointRequest,
  type EndpointResponse,
  type Service,
} from './endpoint.js';
import { balance, paymentStatus, search, userListing } from './queries.js';

export interface ProviderApiOptions extends EndpointContext {
  readonly services: readonly Service[];
  readonly faults: FaultInjector;
  readonly posts: PostCounter;
  readonly requests: RequestCounter;
  readonly log: Log;
  readonly send: (response: Response, reply: Reply) => void;
}

/** The provider's eight endpoints. Credentials are checked first, then the kind of service, then the body. */
export function providerApi(options: ProviderApiOptions): Router {
  const router = Router();
  const contentFaults = new ContentFaults(options.faults, options.clock);
  const endpoints = [
    initiatePay(options),
    directPay(options),
    paymentStatus(options),
    expirePay(options),
    userListing(options),
    search(options),
    balance(options),
    payout(options),
  ];
  for (const endpoint of endpoints) {
    router[endpoint.method](
      endpoint.path,
      (request, response, next) => {
        options.requests.count(endpoint.name);
        const service = authenticate(request.headers, options.services);
        authorize(service, endpoint.only);
        response.locals.service = service;
        next();
      },
      express.json({ limit: '100kb' }),
      (request, response) => {
        const service: Service = response.locals.service;
        options.send(response, replyTo(request, endpoint, service, contentFaults, options));
      },
    );
  }
  return router;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
/** Compares in constant time, even for different lengths. */
const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));

/**
 * The service whose credentials a request carries.
 * @throws ApiError 401 when a header is missing or the credentials are wrong
 */
function authenticate(headers: IncomingHttpHeaders, services: readonly Service[]): Service {
  const credential = (name: string) => {
    const value = headers[name];
    if (value === undefined || value === '') throw new ApiError(401, `${name}: this header is required`);
    return String(value);
  };
  const [user, key] = [credential(credentialHeaders.user), credential(credentialHeaders.key)];
  const service = services.find(({ apiUser, apiKey }) => isSame(user, apiUser) && isSame(key, apiKey));
  if (service === undefined) throw new ApiError(401, 'apiuser or apikey is invalid');
  return service;
}

/**
 * Checks that a service may use an endpoint: a payout service can't collect, nor a collection service pay out.
 * @throws ApiError 403
 */
function authorize(service: Service, required: ServiceKind | undefined): void {
  if (required === undefined || service.kind === required) return;
  throw new ApiError(
    403,
    required === 'payout'
      ? 'This service is not enabled for payouts'
      : 'This service is enabled for payouts and cannot collect payments',
  );
}

/** Processes an authenticated request, applying the faults that match it. */
function replyTo(
  request: Request,
  endpoint: Endpoint,
  service: Service,
  contentFaults: ContentFaults,
  options: ProviderApiOptions,
): Reply {
  const { faults, ledger, posts, requests, log } = options;
  const body: unknown = request.body;
  const parameter = String(request.params.parameter ?? '');
  const point = pointOf(endpoint.name, body, parameter, ledger);
  const initiates = initiatedId(point);
  if (initiates !== undefined) posts.receive(initiates);
  const fault = faults.responseFault(point);
  const { view, applied } = contentFaults.view(endpoint.name, point);

  let response: EndpointResponse | undefined;
  const respond = () => {
    response = handle(endpoint, { service, body, parameter, query: request.query, ...view });
    return response;
  };
  const reply = fault ? faultyReply(fault, respond) : jsonReply(respond());
  const entry = response?.entry ?? (point.transId === undefined ? undefined : ledger.find(point.transId));
  const changed = new Set(entry && [entry]);
  if (initiates !== undefined && response?.entry !== undefined) posts.commit(initiates);
  if (fault !== undefined) applied.push({ fault: fault.fault });
  for (const { fault: kind, entry: about = entry } of applied) {
    faults.record(kind, about);
    if (about !== undefined) changed.add(about);
  }
  // Saved before the reply is sent: what a client knows of must survive a crash.
  for (const one of changed) ledger.save(one);
  const status = statusOf(reply);
  if (status === 429) requests.throttled++;
  log('request', { endpoint: endpoint.name, status, transId: entry?.transId, fault: fault?.fault });
  return reply;
}

/** The subject of a request, as far as it says before validation. */
function pointOf(target: EndpointName, body: unknown, parameter: string, ledger: Ledger): InjectionPoint {
  if (target === 'transaction') return { target, userId: parameter };
  const transId = target === 'payment-status' ? parameter : textField(body, 'transId');
  const entry = transId === undefined ? undefined : ledger.find(transId);
  if (entry) return injectionPoint(target, entry);
  return { target, transId, externalId: textField(body, 'externalId'), userId: textField(body, 'userId') };
}

function textField(body: unknown, field: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const value: unknown = Reflect.get(body, field);
  return typeof value === 'string' ? value : undefined;
}

/** The externalId of a request to create a transaction, if it has a valid one. */
function initiatedId({ target, externalId }: InjectionPoint): string | undefined {
  if (target !== 'initiate-pay' && target !== 'direct-pay' && target !== 'payout') return undefined;
  return identifierSchema.safeParse(externalId).data;
}

/** The HTTP status of a reply that has one. */
function statusOf(reply: Reply): number | undefined {
  if (reply.kind === 'json') return reply.response.status;
  return reply.kind === 'text' ? reply.status : undefined;
}

function handle(endpoint: Endpoint, request: EndpointRequest): EndpointResponse {
  try {
    return endpoint.handle(request);
  } catch (error) {
    if (error instanceof ApiError) {
      const { status, message, headers } = error;
      return { status, body: { message }, headers };
    }
    if (error instanceof LedgerFullError) return { status: 503, body: { message: error.message } };
    throw error;
  }
}
