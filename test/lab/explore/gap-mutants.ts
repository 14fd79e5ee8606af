import { calmSettingOf } from '../../../lab/explore/setting.js';
import type { Mutant } from './mutants.js';

/** A link that was made and given in a time that the book has lost. */
const given = calmSettingOf({
  kind: 'link',
  troubles: new Set(['noAnswer', 'notSent', 'rejected']),
  wasSentBefore: true,
  allowance: { troubles: 2 },
});

/** Rules about links after the book went back, each switched off. */
export const GAP_MUTANTS: readonly Mutant[] = [
  {
    rule: 'after the book went back, the list is read before a link is made',
    find: "return cause === 'operator' || isTooLate ? payment : toSearching(payment, ambiguity, now);",
    replace: "return cause !== 'policy' ? payment : toSearching(payment, ambiguity, now);",
    setting: given,
    breaks: 'oneLink',
    story: [/request/],
  },
  {
    rule: 'after the book went back, the list counts once it shows what was made before',
    find: 'return gap === undefined || gap.isRead ? 0 : gap.at + LISTED_AFTER_MS;',
    replace: 'return gap === undefined || gap.isRead ? 0 : gap.at;',
    setting: given,
    breaks: 'oneLink',
    story: [/list: nothing/],
  },
  {
    rule: 'after the book went back, no link is made before what the list shows is known to have expired',
    find: "(answer.kind !== 'alreadyExpired' && hasUnreadGap(payment))",
    replace: 'false',
    setting: given,
    breaks: 'oneLink',
    story: [/list: T1/, /expire T1: no answer/, /taken as T2/],
  },
  {
    rule: 'after the book went back, no link is FAILED before the list was read',
    find: "payment.order.kind === 'link' && payment.sends.mayBeDouble && !isRead",
    replace: "payment.order.kind === 'link' && payment.sends.mayBeDouble && now < 0",
    setting: given,
    breaks: 'failedTruth',
    story: [/on its way/, /reject/],
  },
  {
    rule: 'after the book went back, no link is EXPIRED while the list shows another that somebody may pay',
    find: 'own.find((one) => one !== followed && !cannotMoveMoney(known, one.status));',
    replace: 'own.find((one) => one !== followed && now < 0);',
    setting: given,
    breaks: 'failedTruth',
    story: [/taken as T2/, /the book went back/, /list: T1 and T2: EXPIRED, final/],
  },
];
