import { createHash } from 'node:crypto';

/** The style sheet of every page. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f7; --surface: #fff; --text: #17202a; --quiet: #4d5865; --line: #d7dce2; --edge: #737d8a;
  --accent: #0b6b55; --accent-strong: #085140; --accent-tint: #e6f3ef; --on-accent: #fff;
  --danger: #a8201a; --danger-tint: #fdecea; --on-danger: #fff;
  --notice: #6b4a00; --notice-tint: #fff2cf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11161b; --surface: #1a2128; --text: #edf0f3; --quiet: #aab4bf; --line: #323c46; --edge: #7d8996;
    --accent: #5ecfb0; --accent-strong: #86dfc6; --accent-tint: #16302a; --on-accent: #06251d;
    --danger: #ffb4ab; --danger-tint: #3a1d1b; --on-danger: #3a0905;
    --notice: #ffd98a; --notice-tint: #352a10;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  color: var(--text); background: var(--ground);
}
h1, h2, h3, p, dl, dd, ol, ul, fieldset { margin: 0; }
ol, ul { padding: 0; list-style: none; }
a { color: var(--accent); }
a:hover { color: var(--accent-strong); }
code { font: .9375em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
:is(a, button, input, textarea, select, summary, h1):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; padding: .625rem 1rem; background: var(--surface); z-index: 1; }

.bar { background: var(--surface); border-bottom: 1px solid var(--line); }
.bar-inner {
  max-width: 68rem; margin: 0 auto; padding: .25rem 1rem; display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.5rem;
}
.brand { font-weight: 700; color: var(--text); text-decoration: none; min-height: 2.75rem; display: inline-flex; align-items: center; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 .25rem; margin: 0 -.5rem; }
nav a {
  display: inline-flex; align-items: center; min-height: 2.75rem; min-width: 2.75rem; padding: 0 .5rem; color: var(--text);
  text-decoration: none; border-bottom: 3px solid transparent;
}
nav a:hover { color: var(--accent-strong); }
nav a[aria-current=page] { border-bottom-color: var(--accent); font-weight: 600; }
.who { margin-left: auto; display: flex; flex-wrap: wrap; align-items: center; gap: 0 .75rem; font-size: .9375rem; }
.who span { overflow-wrap: anywhere; }

main { width: 100%; max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; flex: 1; display: grid; gap: 1.25rem; align-content: start; }
main > *, .card > *, .columns > * { min-width: 0; }
main.narrow { max-width: 34rem; }
h1 { font-size: 1.625rem; line-height: 1.25; font-weight: 680; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
h2 { font-size: 1.125rem; line-height: 1.35; font-weight: 650; }
h3 { font-size: 1rem; font-weight: 650; overflow-wrap: anywhere; }
p, li, dd { overflow-wrap: anywhere; }
.quiet { color: var(--quiet); font-size: .9375rem; }
.title { display: grid; gap: .375rem; }
.title-line { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; }
.card {
  padding: 1.125rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--surface); display: grid; gap: .875rem;
}
.columns { display: grid; gap: 1.25rem; align-items: start; }
.stack { display: grid; gap: 1.25rem; }
.stack > * { min-width: 0; }

.badge {
  display: inline-block; padding: .125rem .625rem; border-radius: 1rem; font-size: .8125rem; font-weight: 650;
  border: 1px solid var(--edge); color: var(--text); white-space: nowrap;
}
.badge.review { color: var(--notice); background: var(--notice-tint); border-color: currentColor; }
.badge.good { color: var(--accent); background: var(--accent-tint); border-color: currentColor; }
.badge.bad { color: var(--danger); background: var(--danger-tint); border-color: currentColor; }

.notice { padding: .875rem 1rem; border-radius: .5rem; border-left: 4px solid var(--notice); background: var(--notice-tint); display: grid; gap: .25rem; }
.notice.refused { border-left-color: var(--danger); background: var(--danger-tint); }
.notice.done { border-left-color: var(--accent); background: var(--accent-tint); }

.facts { display: grid; gap: .375rem 1rem; font-size: .9375rem; }
.facts > div { display: grid; gap: 0 1rem; }
.facts dt { color: var(--quiet); }
.facts dd { font-variant-numeric: tabular-nums; }
.list { display: grid; gap: .75rem; }
.item { display: grid; gap: .5rem; padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--surface); }
.item > * { min-width: 0; }
.item h2 a, .item h3 a { display: inline-flex; align-items: center; min-height: 2.75rem; }
.why { border-left: 3px solid var(--notice); padding-left: .75rem; }
.differs { color: var(--danger); font-weight: 600; }
.meta { display: flex; flex-wrap: wrap; gap: .125rem 1.25rem; font-size: .9375rem; color: var(--quiet); font-variant-numeric: tabular-nums; }
.meta span { min-width: 0; overflow-wrap: anywhere; }
.timeline { display: grid; gap: .625rem; }
.timeline li { display: grid; gap: 0 1rem; font-size: .9375rem; }
.timeline time { color: var(--quiet); font-variant-numeric: tabular-nums; }

form { display: grid; gap: 1rem; }
form.inline { display: inline-grid; }
.field { display: grid; gap: .375rem; min-width: 0; }
label, legend { font-weight: 600; font-size: .9375rem; }
.hint { color: var(--quiet); font-size: .875rem; }
.error { color: var(--danger); font-size: .875rem; font-weight: 600; }
input, textarea, select {
  width: 100%; min-height: 2.75rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--surface);
  border: 1px solid var(--edge); border-radius: .5rem;
}
textarea { min-height: 6rem; resize: vertical; }
[aria-invalid=true] { border-color: var(--danger); box-shadow: inset 0 0 0 1px var(--danger); }
details { display: grid; }
summary { display: list-item; min-height: 2.75rem; padding: .625rem 0; font-weight: 600; cursor: pointer; }
details[open] > form { padding-top: .5rem; }
.row { display: grid; gap: 1rem; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; }
.button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: .5rem 1rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; overflow-wrap: anywhere;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .5rem;
}
.button:hover { color: var(--on-accent); background: var(--accent-strong); border-color: var(--accent-strong); }
.button.plain { color: var(--text); background: transparent; border-color: var(--edge); font-weight: 500; }
.button.plain:hover { background: var(--ground); }
.button.danger { color: var(--on-danger); background: var(--danger); border-color: var(--danger); }
.pages { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; }
footer { padding: 1rem; font-size: .875rem; text-align: center; color: var(--quiet); }
@media (min-width: 40rem) {
  .facts > div { grid-template-columns: 10rem minmax(0, 1fr); }
  .timeline li { grid-template-columns: 9.5rem minmax(0, 1fr); }
  .row { grid-template-columns: repeat(3, minmax(0, 1fr)) auto; align-items: end; }
  .row.search { grid-template-columns: minmax(0, 1fr) auto; }
}
@media (min-width: 60rem) {
  .columns { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
}
@media print { .bar, form, .button { display: none; } .card, .item { break-inside: avoid; } }
`;

/** The style sheet's address: other content has another address, so that browsers may keep it for ever. */
export const STYLE_PATH = `/desk/${createHash('sha256').update(STYLE).digest('hex').slice(0, 16)}.css`;
