import { ApiError, Sanaga } from '../../client/index.js';
import { createHostLookup, isPublicAddress } from '../../src/delivery/public-addresses.js';
import { CURRENCY } from '../../src/payments/words/limits.js';
import type { BalanceAnswer } from '../../src/payments/words/outcome.js';
import { createProviderClient } from '../../src/provider/client.js';
import type { Config } from '../../src/settings/read-settings.js';
import type { Target } from '../target.js';
import { type Finding, fail, ok, reasonOf, warn } from './finding.js';

const LIMIT_MS = 10_000;

/** Largest difference of a clock without a warning; signatures of notifications are refused from 5 min on. */
const SKEW_MS = { warn: 5_000, fail: 60_000 } as const;

/** Checks that the API answers, is ready, and accepts the key. */
export async function checkApi({ url, apiKey }: Partial<Target>): Promise<Finding[]> {
  if (url === undefined) {
    const todo = 'Set SANAGA_URL and SANAGA_API_KEY, or give --url and --api-key.';
    return [fail('api', 'there is no address or key of the API to check', todo)];
  }
  let readiness: Response;
  try {
    readiness = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(LIMIT_MS) });
  } catch (error) {
    const todo = 'Start it ("sanaga server"), or correct the address (SANAGA_URL, --url).';
    return [fail('api', `no answer from ${url}: ${reasonOf(error)}`, todo)];
  }
  const body = await readiness.text();
  return [
    readiness.ok
      ? ok('api', `${url} is ready`)
      : fail('api', `${url} is not ready: ${detailOf(body) ?? `it answered ${readiness.status}`}`, 'See its log.'),
    apiKey === undefined
      ? warn('api key', 'there is none to check', 'Set SANAGA_API_KEY, or give --api-key.')
      : await checkKey(url, apiKey),
    ...checkClock("the API's clock", readiness.headers),
  ];
}

async function checkKey(baseUrl: string, apiKey: string): Promise<Finding> {
  try {
    await new Sanaga({ baseUrl, apiKey, maxRetries: 0 }).payments.list({ limit: 1 });
    return ok('api key', 'it is accepted, and can read payments');
  } catch (error) {
    const code = error instanceof ApiError ? error.code : undefined;
    const detail = error instanceof Error ? error.message : String(error);
    if (code === 'unauthenticated') return fail('api key', detail, 'Set SANAGA_API_KEY to a key that is in API_KEYS.');
    if (code === 'forbidden')
      return warn('api key', detail, 'Give the key the scope read in API_KEYS, if it should read.');
    return fail('api key', detail, "See the API's log.");
  }
}

type Service = 'collection' | 'payout';
type ProviderSettings = Pick<Config<'worker'>, `PROVIDER_${'COLLECTION' | 'PAYOUT'}_${'URL' | 'API_USER' | 'API_KEY'}`>;

/**
 * Checks that the provider answers and accepts a service's credentials: asks for its balance.
 *
 * @param warnBelow compares the balance with it, in XAF
 */
export async function checkProvider(
  service: Service,
  settings: ProviderSettings,
  warnBelow?: number,
): Promise<Finding[]> {
  const [url, apiUser, apiKey] =
    service === 'collection'
      ? [settings.PROVIDER_COLLECTION_URL, settings.PROVIDER_COLLECTION_API_USER, settings.PROVIDER_COLLECTION_API_KEY]
      : [settings.PROVIDER_PAYOUT_URL, settings.PROVIDER_PAYOUT_API_USER, settings.PROVIDER_PAYOUT_API_KEY];
  const client = createProviderClient({ service, url, apiUser, apiKey, timeoutMs: LIMIT_MS });
  try {
    const answer = await client.balance();
    const found = checkCredentials(service, url, answer);
    return warnBelow === undefined ? [found] : [found, checkFloat(answer, warnBelow)];
  } finally {
    client.close();
  }
}

function checkCredentials(service: Service, url: string, answer: BalanceAnswer): Finding {
  const name = `provider, ${service}s`;
  const prefix = `PROVIDER_${service.toUpperCase()}`;
  switch (answer.kind) {
    case 'balance':
      return ok(name, `${answer.service} takes the credentials: ${grouped(answer.balance)} ${answer.currency}`);
    case 'unauthorized':
      return fail(
        name,
        `the credentials are refused: ${answer.message}`,
        `Correct ${prefix}_API_USER and ${prefix}_API_KEY.`,
      );
    case 'refused':
      return fail(name, `it refuses: ${answer.message}`, 'Ask the provider whether this service is enabled.');
    case 'throttled':
      return warn(name, 'it has too many requests at the moment', 'Try again in a minute.');
    case 'unavailable':
      return fail(
        name,
        `no answer from ${new URL(url).origin}: ${answer.reason}`,
        `Check ${prefix}_URL, and the network.`,
      );
  }
}

/** Compares what the payout account holds with the level that operators are warned below, in XAF. */
function checkFloat(answer: BalanceAnswer, warnBelow: number): Finding {
  const level = `FLOAT_WARN_BELOW is ${grouped(warnBelow)} XAF`;
  if (answer.kind !== 'balance' || answer.currency !== CURRENCY) {
    return warn('float', `it isn't known what the payout account holds; ${level}`, 'See the check of the provider.');
  }
  const holds = `the payout account holds ${grouped(answer.balance)} XAF; ${level}`;
  return answer.balance < warnBelow
    ? warn('float', holds, 'Have it topped up at the provider: payouts beyond it fail.')
    : ok('float', holds);
}

const grouped = (amount: number) => amount.toLocaleString('en-US');

/** Compares this machine's clock with the provider's. */
export async function checkProviderClock(url: string): Promise<Finding[]> {
  try {
    const answer = await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    return checkClock("the provider's clock", answer.headers);
  } catch {
    // The check of its credentials tells that there is no answer.
    return [];
  }
}

function checkClock(name: string, headers: Headers): Finding[] {
  const theirs = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return [];
  // The header has whole seconds.
  const skewMs = Date.now() - theirs - 500;
  const apart = `${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? 'behind' : 'ahead of'} the one here`;
  const todo = 'Set the clocks by NTP: signatures, link ends and times in records depend on them.';
  if (Math.abs(skewMs) >= SKEW_MS.fail) return [fail(name, `it is ${apart}`, todo)];
  if (Math.abs(skewMs) >= SKEW_MS.warn) return [warn(name, `it is ${apart}`, todo)];
  return [ok(name, 'it agrees with the one here')];
}

type WebhookSettings = Pick<
  Config<'worker'>,
  'MERCHANTS_FILE' | 'MERCHANT_WEBHOOK_URL' | 'MERCHANT_WEBHOOK_ALLOW_PRIVATE'
>;

/**
 * Checks that the merchants' webhook addresses can be reached. Nothing is delivered.
 *
 * @param isForListen whether the one address belongs to `sanaga listen`, which needn't be running.
 */
export async function checkWebhooks(settings: WebhookSettings, isForListen: boolean): Promise<Finding[]> {
  const { MERCHANTS_FILE: merchants, MERCHANT_WEBHOOK_URL: url, MERCHANT_WEBHOOK_ALLOW_PRIVATE: privately } = settings;
  if (merchants !== undefined) {
    const checks = merchants.map(({ name, webhooks }) => {
      const check = `webhooks, ${name}`;
      if (webhooks.length > 0)
        return Promise.all(webhooks.map((webhook) => checkWebhook(check, webhook.url, privately)));
      return [
        warn(check, 'it has no address, so that it is not notified of outcomes', "Give it one in the merchants' file."),
      ];
    });
    return (await Promise.all(checks)).flat();
  }
  if (url !== undefined) {
    const finding = await checkWebhook('webhooks', url, privately);
    return [
      isForListen && finding.status === 'fail'
        ? warn('webhooks', finding.detail, 'Run "sanaga listen" to receive them. They are tried for 72 hours.')
        : finding,
    ];
  }
  const todo = 'Set MERCHANT_WEBHOOK_URL and MERCHANT_WEBHOOK_SECRET. "sanaga listen" shows how on this machine.';
  return [warn('webhooks', 'no address is set, so that nobody is notified of outcomes', todo)];
}

async function checkWebhook(name: string, url: string, allowsPrivate: boolean): Promise<Finding> {
  const { origin, hostname } = new URL(url);
  try {
    // As the worker looks it up.
    const addresses = await createHostLookup({ allowPrivate: true })(hostname);
    const hidden = addresses.find(({ address }) => !isPublicAddress(address));
    if (hidden !== undefined && !allowsPrivate) {
      const todo = 'Use a public address, or set MERCHANT_WEBHOOK_ALLOW_PRIVATE=true for one on your own network.';
      return fail(name, `${hostname} leads to ${hidden.address}, which is not public: nothing is sent there`, todo);
    }
    const answer = await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    return ok(name, `${origin} can be reached (it answered ${answer.status} to a HEAD request)`);
  } catch (error) {
    const todo = 'Start the server there, or correct the address. Notifications are tried for 72 hours.';
    return fail(name, `no answer from ${origin}: ${reasonOf(error)}`, todo);
  }
}

function detailOf(body: string): string | undefined {
  try {
    const said: unknown = JSON.parse(body);
    return typeof said === 'object' && said !== null && 'detail' in said ? String(said.detail) : undefined;
  } catch {
    return undefined;
  }
}
