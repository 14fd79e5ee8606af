import express, { type Request, type Response, Router } from 'express';
import { type Answer, Refusal, refusalAnswer } from '../answer.js';
import type { Entry } from '../entry.js';
import type { FaultKind } from '../faults/fault-rule.js';
import type { Faults, Site } from '../faults/faults.js';
import { type Ending, spoilAnswer } from '../faults/spoil-answer.js';
import { LedgerFullError } from '../ledger.js';
import type { Log } from '../log.js';
import { authenticate, permit, type Service } from '../service.js';
import type { Traffic } from '../traffic.js';
import { dateOf, wireTransaction } from '../wire-transaction.js';
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
  readonly traffic: Traffic;
  readonly log: Log;
  /** Sends an ending over the wire. */
  readonly end: (response: Response, ending: Ending) => void;
}

/** The provider's eight endpoints: credentials first, then the kind of service, the body, and what faults let pass. */
export function providerApi(options: ProviderApiOptions): Router {
  const router = Router();
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
        options.end(response, respond(endpoint, service, request, options));
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
  options: ProviderApiOptions,
): Ending {
  const { faults, ledger, traffic, log } = options;
  const body: unknown = request.body;
  const parameter = String(request.params.parameter ?? '');
  const site = subjectOf(endpoint.name, body, parameter, ledger);
  const fault = faults.onAnswer(site);
  const { showing, struck } = untruths(endpoint, site, faults);
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
  for (const kind of fault ? [...struck, fault.fault] : struck) faults.record(kind, entry);
  // Written down before the answer goes out: what was answered must have happened.
  if (entry !== undefined) ledger.keep(entry);
  const status = ending.kind === 'answer' ? ending.answer.status : undefined;
  if (status === 429) traffic.throttled++;
  log('request', { endpoint: endpoint.name, status, transId: entry?.transId, fault: fault?.fault });
  return ending;
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

/** How the answer is to differ from the truth, and which faults have made it differ (filled as it is shown). */
function untruths(endpoint: Endpoint, site: Site, faults: Faults) {
  const struck: FaultKind[] = [];
  let skewMs = 0;
  for (const skew of faults.onShowing(site, 'clockSkew')) {
    if (skew.fault === 'clockSkew') skewMs += skew.skewMs;
    struck.push(skew.fault);
  }
  const show = (entry: Entry) => {
    // A transaction that has had but one status can't go back, and keeps the fault for another time.
    const before = entry.history.at(-2);
    const regresses = endpoint.name === 'payment-status' && before !== undefined;
    const [regression] = regresses ? faults.onShowing(site, 'statusRegression') : [];
    if (regression) struck.push(regression.fault);
    return wireTransaction(entry, { skewMs, as: regression && before?.status });
  };
  const listedFrom = (createdAt: number) => {
    const [lag] = faults.onShowing(site, 'listLag');
    if (lag?.fault !== 'listLag') return createdAt;
    struck.push(lag.fault);
    return createdAt + lag.delayMs;
  };
  const date = (timeMs: number) => dateOf(timeMs + skewMs);
  return { showing: { show, date, listedFrom }, struck };
}
