import { once } from 'node:events';
import type { Express, Request, RequestHandler, Response } from 'express';
import { type Authenticator, requireScope } from '../http/auth.js';
import { readBytes, readJson } from '../http/body.js';
import { recordOf } from '../http/request-log.js';
import { expectNoBody, validate, validateQuery } from '../http/validate.js';
import { methodNotAllowed } from './api-error.js';
import type { ApiContext } from './context.js';
import type { ApiRequest, ApiResponse, Route } from './route.js';

/**
 * Adds the routes to the app. A body is read only once the key and the query are found valid. With a key, whatever the
 * route doesn't describe is refused: nothing is sent now that was meant for later, or for another amount. Routes
 * without a key either read nothing, so that a probe may add what it likes, or are the provider's.
 */
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
  // A request is in progress until its caller has read the answer, or has gone: until then, it takes memory.
  if (response.closed) admission.leave();
  else response.once('close', () => admission.leave());
  response.set(admission.headers);
  requireScope(caller, route.scopes);
  const query = validateQuery(route.query, request.query, route);
  const body = route.body
    ? validate(route.body, await readJson(request, response), 'body', route)
    : await expectNoBody(request, response, route);
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
    ip: request.ip,
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

/** A caller may leave a long answer unread for this long, in ms: the unsent part of it fills the memory. */
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
