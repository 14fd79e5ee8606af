import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { html } from '../../http/html.js';
import { publicRoute } from '../route.js';

/**
 * Serves the API's reference, for people and for programs, with nothing from another host. Anybody may ask for it, so
 * all get the same bytes: a copy for each would fill the memory.
 */

export const getOpenApi = publicRoute({
  method: 'get',
  path: '/openapi.json',
  summary: 'The OpenAPI document',
  operationId: 'getOpenApi',
  responses: { 200: { description: 'The document.', contentType: 'application/json' } },
  handle: (_, { openApi }) => ({
    status: 200,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    text: openApi(),
  }),
});

export function page(html: Buffer, policy: string) {
  return {
    status: 200,
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy },
    text: html,
  } as const;
}

/** RapiDoc puts its styles into the page itself. It runs no other script and calls nobody else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The page only shows: an API key belongs on the merchant's server, and not in a page. On a narrow screen, RapiDoc has
 * no menu, so the page has one above it, and a link back to it. RapiDoc scrolls to the address's hash.
 */
const referencePage = ({ tags, operations }: Menu) =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sanaga: API reference</title>
<link rel="icon" href="data:,">
<script type="module" src="/docs/rapidoc.js"></script>
<style>
nav, .to-menu { display: none }
@media (max-width: 767px) {
  nav { display: block; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif }
  nav ul { margin: 0; padding: 0 0 .5rem 1rem; list-style: none }
  nav a { display: block; padding: .6rem 0; color: #0b6b57 }
  summary { padding: .6rem 0; font-weight: 600 }
  .to-menu { display: block; position: fixed; right: 1rem; bottom: 1rem; z-index: 1; padding: .75rem 1.25rem; border-radius: 2rem;
    font: 1rem/1 system-ui, sans-serif; background: #0b6b57; color: #fff; text-decoration: none }
  rapi-doc { height: auto; padding: 0 1rem; box-sizing: border-box }
}
</style>
</head>
<body>
<nav id="menu" aria-label="Calls">${tags.map(
    (tag) => html`
<details><summary>${tag}</summary><ul>${operations
      .filter((one) => one.tag === tag)
      .map(({ place, summary }) => html`<li><a href="#${place}">${summary}</a></li>`)}</ul></details>`,
  )}
</nav>
<a class="to-menu" href="#menu">Menu</a>
<rapi-doc spec-url="/openapi.json" render-style="read" theme="light" primary-color="#0b6b57" load-fonts="false"
  regular-font="system-ui, sans-serif" mono-font="ui-monospace, monospace" show-header="false" allow-try="false"
  allow-server-selection="false" allow-authentication="false" allow-spec-file-download="false"
  schema-style="table" schema-description-expanded="true" use-path-in-nav-bar="false" font-size="large">
</rapi-doc>
<noscript>This page needs JavaScript. The same is in <a href="/openapi.json">openapi.json</a>.</noscript>
</body>
</html>
`.text;

/** The links of the reference's menu. */
interface Menu {
  readonly tags: readonly string[];
  readonly operations: readonly { readonly tag: string; readonly place: string; readonly summary: string }[];
}

const documentSchema = z.object({
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), z.object({ summary: z.string(), tags: z.tuple([z.string()]) }))),
});

/** The calls of the OpenAPI document, with their places as RapiDoc names them. */
function menuOf(openApi: string): Menu {
  const { tags, paths } = documentSchema.parse(JSON.parse(openApi));
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([
        method,
        {
          summary,
          tags: [tag],
        },
      ]) => ({
        tag,
        place: `${method}-${path.replace(/[{}]/g, '-')}`,
        summary,
      }),
    ),
  );
  return { tags: tags.map(({ name }) => name), operations };
}

let reference: Buffer | undefined;

export const getReference = publicRoute({
  method: 'get',
  path: '/docs',
  summary: "The API's reference as a page",
  operationId: 'getReference',
  responses: { 200: { description: 'The page.', contentType: 'text/html' } },
  handle(_, { openApi }) {
    reference ??= Buffer.from(referencePage(menuOf(openApi().toString())));
    return page(reference, POLICY);
  },
});

/** RapiDoc, compressed by its makers: every browser takes gzip, and nobody else needs it. */
const SCRIPT = readFileSync(new URL('../rapidoc/rapidoc-min.js.gz', import.meta.url));

export const getReferenceScript = publicRoute({
  method: 'get',
  path: '/docs/rapidoc.js',
  summary: 'The script of the reference',
  operationId: 'getReferenceScript',
  responses: { 200: { description: 'The script.', contentType: 'text/javascript' } },
  handle: () => ({
    status: 200,
    headers: {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Content-Encoding': 'gzip',
      'Cache-Control': 'public, max-age=3600',
    },
    text: SCRIPT,
  }),
});
