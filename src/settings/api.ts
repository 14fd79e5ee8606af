import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { PROVIDER_LINK_LIFETIME_MS } from '../payments/words/limits.js';
import { apiKeys } from './api-keys.js';
import {
  areRead,
  baseUrl,
  count,
  databaseUrl,
  duration,
  floatWarnBelow,
  host,
  httpUrl,
  logLevel,
  metricsAddress,
  port,
  trustedProxies,
  webhookToken,
  xaf,
} from './kinds.js';
import { decidersAmong, hasPayments, hasPayouts, type Merchant, merchantsIn, personsWith } from './merchants.js';
import { APPROVAL_BOUNDS, merchantsFile } from './merchants-file.js';
import { encryption, hasKeys, KEYS_MISSING, ONE_DESCRIPTION, provider, temporal, tracing } from './shared-settings.js';

/**
 * Longest delay assumed before the provider's lists show the transaction of a finished request. The provider gives no
 * figure. With a shorter grace period, or an earlier decision, a payment that the provider accepted could be taken for
 * missing.
 */
const LIST_LAG = '15s';

const terms = {
  LINK_LIFETIME: duration('24h', {
    min: '10s',
    max: ms(PROVIDER_LINK_LIFETIME_MS) as StringValue,
    because: 'the provider ends every link after a day',
  }),
  POLL_FIRST: duration('3m', { min: '1s', max: '1d' }),
  POLL_MAX: duration('1h', { min: '5s', max: '7d' }),
  AMBIGUOUS_GRACE: duration('15m', { max: '7d' }),
  AMBIGUOUS_POLICY: z.enum(['review', 'resend'], 'must be review or resend').default('review'),
  RESOLVE_AFTER: duration('1h', {
    min: LIST_LAG,
    max: '7d',
    because: 'the provider may list a transaction late',
  }),
  SEND_BY: duration('24h', { min: '5m', max: '7d' }),
};

/** One merchant's limits, which are also those of each merchant whose entry in the merchants' file has none. */
const limits = {
  MAX_COLLECTION: xaf.default(10_000_000),
  MAX_PAYOUT: xaf.default(2_000_000),
  MAX_PAYOUTS_PER_DAY: xaf.optional(),
  SECOND_PERSON_ABOVE: xaf.optional(),
  APPROVE_ABOVE: xaf.optional(),
  APPROVAL_WITHIN: duration('7d', APPROVAL_BOUNDS),
};

/** The API's settings. */
export const apiSettings = z
  .object({
    ...temporal,
    ...provider,
    ...tracing,
    ...terms,
    ...limits,
    ...encryption,
    HOST: host,
    PORT: port(3000),
    LOG_LEVEL: logLevel,
    API_METRICS_ADDRESS: metricsAddress,
    API_KEYS: apiKeys.optional(),
    MERCHANTS_FILE: merchantsFile.optional(),
    MERCHANT_WEBHOOK_URL: httpUrl.optional(),
    WEBHOOK_TOKEN: webhookToken,
    TRUSTED_PROXIES: trustedProxies,
    MAX_REQUESTS_PER_MINUTE: count(6_000),
    MAX_CONCURRENT_REQUESTS: count(200),
    MAX_ACTIVE_REQUESTS: count(20),
    DATABASE_URL: databaseUrl,
    DESK_URL: baseUrl.optional(),
    FLOAT_WARN_BELOW: floatWarnBelow,
  })
  .superRefine(
    ({ API_KEYS, MERCHANTS_FILE, MERCHANT_WEBHOOK_URL }, context) => {
      const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
      if (MERCHANTS_FILE !== undefined) {
        if (API_KEYS !== undefined) refuse('API_KEYS', ONE_DESCRIPTION);
        if (MERCHANT_WEBHOOK_URL !== undefined) refuse('MERCHANT_WEBHOOK_URL', ONE_DESCRIPTION);
        return;
      }
      if (API_KEYS === undefined) return refuse('API_KEYS', 'is not set, and neither is MERCHANTS_FILE');
      const owners = merchantsIn({ API_KEYS })
        .filter(hasPayments)
        .map(({ name }) => name);
      if (MERCHANT_WEBHOOK_URL === undefined || owners.length < 2) return;
      refuse(
        'MERCHANT_WEBHOOK_URL',
        `would get the notifications of ${owners.join(' and ')} alike. Give each merchant its own address in a merchants' file, and set MERCHANTS_FILE instead of API_KEYS and MERCHANT_WEBHOOK_URL: see docs/settings.md`,
      );
    },
    { when: areRead('API_KEYS', 'MERCHANTS_FILE', 'MERCHANT_WEBHOOK_URL') },
  )
  .refine(({ POLL_FIRST, POLL_MAX }) => POLL_MAX >= POLL_FIRST, {
    path: ['POLL_MAX'],
    error: 'must be at least POLL_FIRST',
    when: areRead('POLL_FIRST', 'POLL_MAX'),
  })
  .refine(({ AMBIGUOUS_GRACE, PROVIDER_TIMEOUT }) => AMBIGUOUS_GRACE >= PROVIDER_TIMEOUT + ms(LIST_LAG), {
    path: ['AMBIGUOUS_GRACE'],
    error: `must be at least PROVIDER_TIMEOUT plus ${LIST_LAG}: the provider may list a transaction that late`,
    when: areRead('AMBIGUOUS_GRACE', 'PROVIDER_TIMEOUT'),
  })
  .refine(hasKeys, KEYS_MISSING);

/** The API's settings as read. */
export type ApiConfig = z.infer<typeof apiSettings>;

/** Lists the merchants that the API serves, with the limits of each. */
export function merchantsOf(config: ApiConfig): readonly Merchant[] {
  return merchantsIn(config, {
    maxCollection: config.MAX_COLLECTION,
    maxPayout: config.MAX_PAYOUT,
    maxPayoutsPerDay: config.MAX_PAYOUTS_PER_DAY,
    secondPersonAbove: config.SECOND_PERSON_ABOVE,
    approveAbove: config.APPROVE_ABOVE,
    approvalWithin: config.APPROVAL_WITHIN,
  });
}

/** Explains which decisions and approvals nobody could complete, for want of a second person. */
export function missingPersons(config: ApiConfig): string[] {
  const gap = secondPersonGap(config);
  return [...(gap === undefined ? [] : [gap]), ...merchantsOf(config).flatMap(approverGap)];
}

function approverGap({ name, keys, limits }: Merchant): string[] {
  const people = personsWith('approve', [{ keys }]);
  if (limits.approveAbove === undefined || !hasPayouts({ keys }) || people.length > 1) return [];
  const has = people.length === 0 ? 'nobody has one' : `only ${people[0]} has one`;
  return [
    `APPROVE_ABOVE or approveAbove holds payouts of ${name}, and that takes two people whose keys of ${name} have the scope approve: ${has}. Name each, such as ${name}/ann in API_KEYS, or by \`person\` in a merchants' file: see docs/settings.md`,
  ];
}

/** Explains why nobody could complete a decision that takes two people, if so. */
function secondPersonGap(config: ApiConfig): string | undefined {
  const merchants = merchantsIn(config);
  const limited = merchants.find(({ limits }) => limits.secondPersonAbove !== undefined);
  const people = decidersAmong(merchants);
  if ((config.SECOND_PERSON_ABOVE === undefined && limited === undefined) || people.length > 1) return undefined;
  const what =
    config.SECOND_PERSON_ABOVE === undefined
      ? `MERCHANTS_FILE gives ${limited?.name} a secondPersonAbove, and that `
      : 'SECOND_PERSON_ABOVE ';
  const has = people.length === 0 ? 'nobody has one' : `only ${people[0]} has one`;
  return `${what}takes two people whose keys have the scope review, under two names: ${has}`;
}
