import type { Express, Request, RequestHandler, Response } from 'express';
import type { Api } from './api.js';
import type { Authenticate } from './authenticate.js';
import { methodNotAllowed } from './problem.js';
import { readBody, readJson } from './read-body.js';
import { recordOf } from './request-record.js';
import type { Answer, Call, Route } from './route.js';
import { refuseRepeated, validate } from './validate.js';

/** Puts the routes on the app: the key is checked first, then the query, then the body is read and checked. */
export function mountRoutes(
  app: Express,
  routes: readonly Route[],
  api: Api,
  authenticate: Authenticate,
): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    const mounted = app.route(path);
    for (const route of here) mounted[route.method](handler(route, api, authenticate));
    const allow = here.map(({ method }) => (method === 'get' ? 'GET, HEAD' : 'POST')).join(', ');
    mounted.all((request) => {
      recordOf(request).route = path;
      throw methodNotAllowed(allow);
    });
  }
}

function handler(route: Route, api: Api, authenticate: Authenticate): RequestHandler {
  return async (request, response) => {
    recordOf(request).route = route.path;
    send(response, await answer(route, request, response, api, authenticate));
  };
}

async function answer(
  route: Route,
  request: Request,
  response: Response,
  api: Api,
  authenticate: Authenticate,
): Promise<Answer> {
  const call = toCall(request, response);
  if (route.scopes === undefined) return await route.answer(call, api);

  const caller = authenticate(request.headers.authorization, route.scopes);
  call.record.caller = caller.owner;
  if (route.query) refuseRepeated(request.query);
  const query = route.query && validate(route.query, request.query, 'query');
  const body = route.body && validate(route.body, await readJson(request, response), 'body');
  return await route.answer({ ...call, caller, query, body }, api);
}

function toCall(request: Request, response: Response): Call {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const params = Object.entries(request.params).map(([name, value]) => [name, String(value)]);
  return {
    params: Object.fromEntries(params),
    record: recordOf(request),
    hangUp: gone.signal,
    headers: (name) => request.headersDistinct[name] ?? [],
    readBody: () => readBody(request, response),
  };
}

function send(response: Response, answer: Answer): void {
  response.status(answer.status).set(answer.headers ?? {});
  if ('text' in answer) response.send(answer.text);
  else response.type('application/json').send(JSON.stringify(answer.json));
}
