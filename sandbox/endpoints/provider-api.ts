import express, { type Request, type Response, Router } from 'express';
import { identifierSchema } from '../../src/provider/schemas.js';
import { type Answer, Refusal, refusalAnswer } from '../answer.js';
import type { Faults, Site } from '../faults/faults.js';
import { type Ending, spoilAnswer } from '../faults/spoil-answer.js';
import { Untruths } from '../faults/untruths.js';
import { LedgerFullError } from '../ledger.js';
import type { Log } from '../log.js';
import type { PostLog } from '../post-log.js';
import { authenticate, permit, type Service } from '../service.js';
import type { Traffic } from '../traffic.js';
import { balance } from './balance.js';
import { directPay } from './direct-pay.js';
import type { Call, Endpoint, World } from './endpoint.js';
import { expirePay } from './expire-pay.js';
import { initiatePay } from './initiate-pay.js';
import { paymentStatus } from './payment-status.js';
import { payout } from './payout.js';
import { search } from './search.js';
import { subjectOf } from './subject.js';
import { userListing } from './user-listing.js';

export interface ProviderApiOptions extends World {
  readonly services: readonly Service[];
  readonly faults: Faults;
  readonly posts: PostLog;
  readonly traffic: Traffic;
  readonly log: Log;
  /** Sends an ending over the wire. */
  readonly end: (response: Response, ending: Ending) => void;
}

/** The provider's eight endpoints: credentials first, then the kind of service, the body, and what faults let pass. */
export function providerApi(options: ProviderApiOptions): Router {
  const router = Router();
  const untruths = new Untruths(options.faults, options.clock);
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
        options.traffic.count(endpoint.name);
        const service = authenticate(request.headers, options.services);
        permit(service, endpoint.only);
        response.locals.service = service;
        next();
      },
      express.json({ limit: '100kb' }),
      (request, response) => {
        const service: Service = response.locals.service;
        options.end(response, respond(endpoint, service, request, untruths, options));
      },
    );
  }
  return router;
}

/** Answers one authenticated request, truly or as the faults would have it. */
function respond(
  endpoint: Endpoint,
  service: Service,
  request: Request,
  untruths: Untruths,
  options: ProviderApiOptions,
): Ending {
  const { faults, ledger, posts, traffic, log } = options;
  const body: unknown = request.body;
  const parameter = String(request.params.parameter ?? '');
  const site = subjectOf(endpoint.name, body, parameter, ledger);
  const posted = postedFor(site);
  if (posted !== undefined) posts.receive(posted);
  const fault = faults.onAnswer(site);
  const { showing, struck } = untruths.about(endpoint.name, site);
  const call: Call = { service, body, parameter, query: request.query, ...showing };

  let answered: Answer | undefined;
  const answer = () => {
    answered = truly(endpoint, call);
    return answered;
  };
  const ending: Ending = fault
    ? spoilAnswer(fault, answer)
    : { kind: 'answer', answer: answer(), delayMs: 0 };
  const entry = answered?.entry ?? (site.transId === undefined ? undefined : ledger.find(site.transId));
  const touched = new Set(entry && [entry]);
  if (posted !== undefined && answered?.entry !== undefined) posts.commit(posted);
  if (fault !== undefined) struck.push({ fault: fault.fault });
  for (const { fault: kind, entry: about = entry } of struck) {
    faults.record(kind, about);
    if (about !== undefined) touched.add(about);
  }
  // Written down before the answer goes out: what was answered must have happened.
  for (const one of touched) ledger.keep(one);
  const status = statusOf(ending);
  if (status === 429) traffic.throttled++;
  log('request', { endpoint: endpoint.name, status, transId: entry?.transId, fault: fault?.fault });
  return ending;
}

/** The externalId of a request that is to begin a payment, if it gives one. */
function postedFor({ target, externalId }: Site): string | undefined {
  if (target !== 'initiate-pay' && target !== 'direct-pay' && target !== 'payout') return undefined;
  return identifierSchema.safeParse(externalId).data;
}

/** The HTTP status that is answered, if any is. */
function statusOf(ending: Ending): number | undefined {
  if (ending.kind === 'answer') return ending.answer.status;
  return ending.kind === 'text' ? ending.status : undefined;
}

function truly(endpoint: Endpoint, call: Call): Answer {
  try {
    return endpoint.answer(call);
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(error);
    if (error instanceof LedgerFullError) return { status: 503, body: { message: error.message } };
    throw error;
  }
}
