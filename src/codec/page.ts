import { createHash } from 'node:crypto';

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 3rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff; }
label { display: block; font-weight: 600; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; margin: .25rem 0 1rem; border: 1px solid #6b6b6b; border-radius: 4px; }
button { font: inherit; padding: .5rem 1rem; border: 0; border-radius: 4px; background: #14532d; color: #fff; }
[role=alert] { border-left: 4px solid #b00020; padding-left: .75rem; }
`;

/** What the page's Content-Security-Policy allows it, as a source. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/** What the page of the codec server shows. */
export type PageState =
  | { readonly kind: 'signedOut'; readonly problem?: string }
  /** @param uiUrl where the payments are to be seen */
  | { readonly kind: 'signedIn'; readonly owner: string; readonly uiUrl: string | undefined };

/** The page on which operators sign in, as HTML. */
export function page(state: PageState): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sanaga: reading payments</title>
<style>${STYLE}</style>
<main>
<h1>Reading payments in Temporal's Web UI</h1>
${state.kind === 'signedIn' ? signedIn(state) : signedOut(state)}
</main>
</html>
`;
}

function signedOut({ problem }: Extract<PageState, { kind: 'signedOut' }>): string {
  return `<p>Payments are encrypted in Temporal. Sign in with an API key of the scope <code>review</code>, and the Web UI shows them
readable in this browser.</p>
${problem === undefined ? '' : `<p role="alert">${escaped(problem)}</p>`}
<form method="post" action="/sign-in">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>`;
}

function signedIn({ owner, uiUrl }: Extract<PageState, { kind: 'signedIn' }>): string {
  return `<p>You are signed in with a key of <strong>${escaped(owner)}</strong>, for 12 hours at most.
${uiUrl === undefined ? "Go on to Temporal's Web UI." : `Go on to <a href="${escaped(uiUrl)}">Temporal's Web UI</a>.`}</p>
<form method="post" action="/sign-out">
<button>Sign out</button>
</form>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
