import { Html, html } from './html.js';
import { style } from './style.js';

interface PageOptions {
  /** Says the page's state first, so that it is the first thing a screen reader reads and a tab shows. */
  readonly title: string;
  /** Two columns where there is room for them: a summary, and what to do. */
  readonly wide?: boolean;
  /** Where the browser goes by itself, without a script, and after how many seconds. */
  readonly refresh?: { readonly seconds: number; readonly to: string };
  readonly main: Html;
}

/** A whole document of the checkout: one style sheet, no script, no picture to load, and the mark of the sandbox. */
export const page = ({ title, wide = false, refresh, main }: PageOptions): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh && html`<meta http-equiv="refresh" content="${refresh.seconds}; url=${refresh.to}">`}
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<p class="mark"><strong>Sandbox.</strong> No real money moves here.</p>
<main class="${wide && 'wide'}">${main}</main>
<footer>Payment page of the provider’s sandbox</footer>
</body>
</html>
`.text;
