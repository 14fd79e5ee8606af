/** How the page writes amounts and times: in English, and by the clock of the provider's country. */

const amounts = new Intl.NumberFormat('en-GB');

const moments = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Africa/Douala',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** An amount in XAF for a payer's eye: `5,000 XAF`, on one line wherever it stands. */
export const formatAmount = (amount: number): string => `${amounts.format(amount)}\u00a0XAF`;

/**
 * A moment (ms since the epoch) in Douala's time: `Fri 21 Nov, 14:05`. Put together here, since where a locale has
 * its commas differs from one release of Node to the next.
 */
export const formatMoment = (moment: number): string => {
  const parts = new Map(moments.formatToParts(moment).map(({ type, value }) => [type, value]));
  return `${parts.get('weekday')} ${parts.get('day')} ${parts.get('month')}, ${parts.get('hour')}:${parts.get('minute')}`;
};

/** A span of ms in its two largest units, never rounded up: `23 h 12 min`, `5 min`, `less than a minute`. */
export const formatTimeLeft = (span: number): string => {
  if (span < MINUTE_MS) return 'less than a minute';
  const hours = Math.floor(span / HOUR_MS);
  const minutes = Math.floor((span % HOUR_MS) / MINUTE_MS);
  return [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`].filter(Boolean).join(' ');
};
