import type { Request } from 'express';
import { english } from './english.js';
import { french } from './french.js';
import type { Texts } from './texts.js';

/** A language of the checkout page. */
export interface Locale {
  /** As in `lang` and `Content-Language`. */
  readonly language: 'en' | 'fr';
  readonly texts: Texts;
  /** An amount in XAF: `5,000 XAF`, on one line. */
  readonly formatAmount: (amount: number) => string;
  /** A time (ms since the epoch) in Douala, on a 24-hour clock: `Fri 21 Nov, 14:05 (Douala time)`. */
  readonly formatTime: (timeMs: number) => string;
}

const locale = (language: Locale['language'], region: string, texts: Texts): Locale => {
  const amounts = new Intl.NumberFormat(region);
  const times = new Intl.DateTimeFormat(region, {
    timeZone: 'Africa/Douala',
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return {
    language,
    texts,
    formatAmount: (amount) => `${amounts.format(amount)}\u00a0${texts.currency}`,
    formatTime: (timeMs) => texts.inDouala(times.format(timeMs)),
  };
};

export const locales: Readonly<Record<Locale['language'], Locale>> = {
  en: locale('en', 'en-GB', english),
  fr: locale('fr', 'fr-CM', french),
};

/** The locale that the browser prefers by its `Accept-Language`; English when it prefers neither. */
export const localeOf = (request: Pick<Request, 'acceptsLanguages'>): Locale =>
  request.acceptsLanguages('en', 'fr') === 'fr' ? locales.fr : locales.en;
