import express, { type Request, type Response, Router } from 'express';
import { identifierSchema } from '../../src/provider/wire.js';
import { ContentFaults } from '../faults/content-faults.js';
import { type FaultInjector, type InjectionPoint, injectionPoint } from '../faults/fault-injector.js';
import { faultyReply, jsonReply, type Reply } from '../faults/response-faults.js';
import type { Ledger } from '../ledger.js';
import type { Log } from '../log.js';
import type { PostCounter, RequestCounter } from '../request-counts.js';
import { LedgerFullError } from '../transaction-store.js';
import { balance } from './balance.js';
import { authenticate, authorize } from './credentials.js';
import {
  ApiError,
  type Endpoint,
  type EndpointContext,
  type EndpointName,
  type EndpointRequest,
  type EndpointResponse,
  type Service,
} from './endpoint.js';
import { directPay, initiatePay, payout } from './initiations.js';
import { search, userListing } from './lists.js';
import { expirePay, paymentStatus } from './status-and-expiry.js';

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

/** What a request is about, as far as it says before validation. */
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
