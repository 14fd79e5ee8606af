import { describe, expect, it } from '@jest/globals';
import { keepDraft } from '../../src/desk/draft.js';

const draftWith = (typed: { readonly why?: string; readonly review?: string }) =>
  keepDraft({ drafts: new Map() }, 'pay_1', 'fail', {
    review: '1',
    why: 'seen',
    transId: '',
    shownAt: '',
    ...typed,
  });

describe('what is typed for a decision', () => {
  it.each(['two\nlines', 'sep\u2028arated', 'turned \u202e000,5', 'apart\u2066', 'marked\u200e', 'nul\u0000'])(
    'has a reason that the API takes, too: not %p',
    (why) => {
      expect(draftWith({ why }).errors.why).toBeDefined();
    },
  );

  it.each(['ticket 4711', 'vu au portail, réf. n° 5', '👨\u200d👩\u200d👧'])('may have the reason %p', (why) => {
    expect(draftWith({ why }).errors).toEqual({});
  });

  it.each(['', '0', '-1', '1e3', '0x10', '1.0', ' 1', '1_000', '١', '9'.repeat(20)])(
    'is on a review whose number is one, and not %p',
    (review) => {
      expect(draftWith({ review }).errors.review).toBeDefined();
    },
  );
});
