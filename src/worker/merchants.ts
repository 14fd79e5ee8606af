import type { Logger } from 'pino';
import type { LimitsNow } from '../book/fence.js';
import type { MerchantEndpoint } from '../delivery/merchant.js';
import { reloadOnHangUp } from '../process/run-process.js';
import { type Config, readConfig } from '../settings/read-settings.js';

/** What a worker knows of merchants: those of the merchants' file, or the one whom the settings describe. */
export class WorkersMerchants {
  #config: Config<'worker'>;
  /** Of every merchant, without a file. */
  #only: readonly MerchantEndpoint[];

  /** On SIGHUP they are read again. */
  constructor(config: Config<'worker'>, logger: Logger) {
    this.#config = config;
    this.#only = onlyEndpoint(config);
    if (config.MERCHANTS_FILE === undefined && config.MERCHANT_WEBHOOK_URL === undefined) {
      logger.warn(
        'neither MERCHANTS_FILE nor MERCHANT_WEBHOOK_URL is set: no merchant is notified of the payments that this worker runs',
      );
    }
    reloadOnHangUp(
      logger,
      () => readConfig('worker', process.env),
      (next) => {
        this.#config = next;
        this.#only = onlyEndpoint(next);
        const merchants = next.MERCHANTS_FILE?.map(({ name }) => name);
        logger.info({ merchants }, 'the merchants were read again');
      },
    );
  }

  /** The addresses of a merchant's notifications; `undefined` for one that isn't in the file. */
  endpointsOf(name: string): readonly MerchantEndpoint[] | undefined {
    const { MERCHANTS_FILE: merchants } = this.#config;
    return merchants === undefined ? this.#only : merchants.find((one) => one.name === name)?.webhooks;
  }

  /** A merchant's limits as they are now; `'gone'` for one that isn't in the file. */
  limitsOf(name: string): LimitsNow | 'gone' {
    const { MERCHANTS_FILE: merchants, MAX_PAYOUTS_PER_DAY: max } = this.#config;
    if (merchants === undefined) return { maxPerDay: max };
    const limits = merchants.find((one) => one.name === name)?.limits;
    return limits === undefined
      ? 'gone'
      : { maxPerDay: limits.maxPayoutsPerDay ?? max, approveAbove: limits.approveAbove };
  }
}

function onlyEndpoint({ MERCHANT_WEBHOOK_URL: url, MERCHANT_WEBHOOK_SECRET: secrets }: Config<'worker'>) {
  return url === undefined || secrets === undefined ? [] : [{ url, secrets }];
}
