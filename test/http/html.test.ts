import { describe, expect, it } from '@jest/globals';
import { html } from '../../src/http/html.js';

describe('a template', () => {
  it('escapes what could be markup, in texts and in quoted attributes', () => {
    const text = `<b>&"'`;
    expect(html`<p title="${text}">${text}</p>`.text).toBe(
      '<p title="&lt;b&gt;&amp;&quot;&#39;">&lt;b&gt;&amp;&quot;&#39;</p>',
    );
  });

  it('keeps markup of its own, concatenates lists, and leaves out what is not there', () => {
    const items = ['a', '<'].map((one) => html`<li>${one}</li>`);
    expect(html`<ul>${items}</ul>${undefined}${false}${0}`.text).toBe('<ul><li>a</li><li>&lt;</li></ul>0');
  });

  it('shows characters that nobody would see', () => {
    expect(html`${'a\u202Eb\u0000c\u200Bd'}`.text).toBe('a\uFFFDb\uFFFDc\uFFFDd');
    expect(html`${'two\nlines'}`.text).toBe('two\nlines');
  });
});
