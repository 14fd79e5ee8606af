import { createHash } from 'node:crypto';

/** The style sheet, inlined in each page so that loading it takes a single request. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f7; --surface: #fff; --text: #17202a; --quiet: #55606e; --line: #dde1e6; --edge: #7b8592;
  --accent: #0b6b55; --accent-strong: #085140; --accent-tint: #e9f4f1; --on-accent: #fff;
  --danger: #b3261e; --danger-tint: #fdf0ef; --notice: #6b4a00; --notice-tint: #fff4d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11161b; --surface: #1a2128; --text: #edf0f3; --quiet: #a7b1bc; --line: #323c46; --edge: #7d8996;
    --accent: #5ecfb0; --accent-strong: #86dfc6; --accent-tint: #16302a; --on-accent: #06251d;
    --danger: #ffb4ab; --danger-tint: #3a1d1b; --notice: #ffd98a; --notice-tint: #352a10;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  color: var(--text); background: var(--ground);
}
h1, h2, p, dl, dd, fieldset { margin: 0; }
.mark {
  padding: .5rem 1rem; font-size: .875rem; text-align: center; color: var(--notice); background: var(--notice-tint);
}
main {
  width: 100%; max-width: 27rem; margin: 0 auto; padding: 1.25rem 1rem 2rem; flex: 1;
  display: grid; gap: 1.25rem; align-content: start;
}
main > * { min-width: 0; }
h1 { font-size: 1.375rem; line-height: 1.3; font-weight: 650; overflow-wrap: anywhere; }
h1:focus { outline: none; }
.payee { display: block; font-size: 1rem; font-weight: 500; color: var(--quiet); }
.amount {
  display: block; font-size: 2.125rem; line-height: 1.2; font-weight: 700; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums;
}
.facts { display: grid; gap: .5rem; font-size: .9375rem; }
.summary .facts { margin-top: .875rem; }
.facts div { display: flex; gap: 1rem; justify-content: space-between; }
.facts dt { color: var(--quiet); flex: none; }
.facts dd { text-align: right; min-width: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.facts .aside { display: block; color: var(--quiet); font-size: .875rem; }
.card {
  padding: 1.25rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--surface);
  display: grid; gap: 1.25rem; box-shadow: 0 1px 2px rgb(0 0 0 / .04), 0 8px 24px rgb(0 0 0 / .04);
}
.card > * { min-width: 0; }
form { display: grid; gap: 1.25rem; }
.field { display: grid; gap: .375rem; }
fieldset { padding: 0; border: 0; min-width: 0; display: grid; gap: .5rem; }
label, legend { font-weight: 600; font-size: .9375rem; }
legend { padding: 0; margin-bottom: .375rem; }
.hint { color: var(--quiet); font-size: .875rem; font-weight: 400; }
.error { color: var(--danger); font-size: .875rem; font-weight: 600; }
input:not([type=radio]) {
  width: 100%; min-height: 3rem; padding: .625rem .75rem; font: inherit; color: inherit; background: var(--surface);
  border: 1px solid var(--edge); border-radius: .5rem;
}
input[aria-invalid=true] { border-color: var(--danger); box-shadow: inset 0 0 0 1px var(--danger); }
.choice {
  display: flex; align-items: center; gap: .75rem; min-height: 3rem; padding: .5rem .75rem; font-weight: 400;
  border: 1px solid var(--line); border-radius: .5rem; cursor: pointer;
}
.choice:has(:checked) { border-color: var(--accent); background: var(--accent-tint); box-shadow: inset 0 0 0 1px var(--accent); }
.choice input { width: 1.25rem; height: 1.25rem; margin: 0; flex: none; accent-color: var(--accent); }
.actions { display: grid; gap: .625rem; }
.button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 3rem; padding: .625rem 1rem;
  font: inherit; font-weight: 650; text-align: center; text-decoration: none; cursor: pointer; overflow-wrap: anywhere;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .5rem;
}
.button:hover { background: var(--accent-strong); border-color: var(--accent-strong); }
.button.plain { color: var(--text); background: transparent; border-color: var(--edge); font-weight: 500; }
.button.plain:hover { background: var(--ground); }
:is(input, .button, summary):focus-visible, .choice:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; }
.choice input:focus-visible { outline: none; }
.banner { padding: .75rem 1rem; border-radius: .5rem; font-size: .9375rem; background: var(--danger-tint); color: var(--danger); }
.banner p { color: var(--text); }
.state { display: grid; gap: .5rem; justify-items: center; text-align: center; }
.state svg { width: 3rem; height: 3rem; color: var(--accent); }
.state.over svg { color: var(--quiet); }
.state p { color: var(--quiet); }
details { font-size: .875rem; color: var(--quiet); }
details p { margin: .25rem 0 .75rem; }
summary { min-height: 2.75rem; padding: .625rem 0; cursor: pointer; border-radius: .25rem; }
.card > .facts { padding-top: 1.25rem; border-top: 1px solid var(--line); }
footer { padding: 1rem; font-size: .8125rem; text-align: center; color: var(--quiet); overflow-wrap: anywhere; }
@media (min-width: 56rem) {
  main { padding-top: 4rem; }
  main.wide { max-width: 58rem; grid-template-columns: 1fr 27rem; gap: 1.25rem 4rem; }
  .wide details { grid-column: 2; }
  .card { padding: 1.75rem; }
  .wide .amount { font-size: 2.75rem; }
  .wide .summary .facts { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
}
@media print { .mark, .button { display: none; } .card { border: 0; box-shadow: none; } }
`;

/** The hash of the style sheet, as a source expression for Content-Security-Policy. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
