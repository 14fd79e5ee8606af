import { TEST_NUMBERS } from '../test-outcome.js';
import { type Html, html } from './html.js';

/** For whoever tries the sandbox: which numbers come to what. Closed until it is asked for. */
export const testNumbers = (): Html => html`
<details>
  <summary>Test numbers</summary>
  <p>Any number works, for example 677&nbsp;000&nbsp;000. Its last three digits decide what comes of it:</p>
  <dl class="facts">
    ${TEST_NUMBERS.map(({ pattern, comesTo }) => html`<div><dt><code>${pattern}</code></dt><dd>${comesTo}</dd></div>`)}
  </dl>
</details>`;
