import { type Html, html } from '../../http/html.js';
import { PROBLEMS } from '../../schemas/problems.js';
import { publicRoute } from '../route.js';
import { page } from './reference.js';

/** A page of text alone. */
const TEXT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/** Each problem's `type` leads to its paragraph. */
const ERRORS_PAGE = Buffer.from(
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sanaga: errors</title>
<style>
body { font: 1.05rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
h2 { font-size: 1.1rem; margin: 2rem 0 .25rem; overflow-wrap: anywhere }
:target { background: #ffe9a8; color: #222 }
blockquote { margin: .5rem 0; padding-left: .75rem; border-left: 3px solid #0b6b57 }
</style>
</head>
<body>
<h1>Errors</h1>
<p>Every error is a problem document (RFC 9457). Let programs act on its <code>code</code>, which is stable, and show
<code>detail</code> to people. <a href="/docs">The API's reference</a> says which call can give which.</p>
${Object.entries(PROBLEMS).map(
  ([code, { status, title, cause, cure, example }]) => html`
<h2 id="${code}"><code>${code}</code>, ${status}</h2>
<p>${title}.</p>
<p>Cause: ${withCode(cause)}.</p>
<p>What to do: ${withCode(cure)}.</p>
<blockquote>${example}</blockquote>`,
)}
</body>
</html>
`.text,
);

/** Renders Markdown of words and code as HTML: text between backticks is code. */
function withCode(markdown: string): readonly Html[] {
  return markdown.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

export const getErrors = publicRoute({
  method: 'get',
  path: '/docs/errors',
  summary: 'Every error, with what to do',
  operationId: 'getErrors',
  responses: { 200: { description: 'The page.', contentType: 'text/html' } },
  handle: () => page(ERRORS_PAGE, TEXT_POLICY),
});
