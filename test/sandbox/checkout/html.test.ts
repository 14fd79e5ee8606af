import { describe, expect, it } from '@jest/globals';
import { html } from '../../../sandbox/checkout/html.js';

describe('html', () => {
  it('escapes every value for text and for quoted attributes', () => {
    expect(html`<p title="${`"'`}">${'<b>&</b>'}</p>`.text).toBe('<p title="&quot;&#39;">&lt;b&gt;&amp;&lt;/b&gt;</p>');
  });

  it('shows what nobody would see, and what would turn the text round', () => {
    expect(html`${'a\u202Eb\u0000c\u200Bd\ne'}`.text).toBe('a\uFFFDb\uFFFDc\uFFFDd\ne');
  });

  it('puts markup in as it stands, and lists one after another', () => {
    expect(html`<ul>${['<', '>'].map((text) => html`<li>${text}</li>`)}</ul>`.text).toBe(
      '<ul><li>&lt;</li><li>&gt;</li></ul>',
    );
  });

  it('leaves nothing for undefined and false, but writes 0', () => {
    expect(html`[${undefined}${false}${0}]`.text).toBe('[0]');
  });
});
