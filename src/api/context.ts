import type { EarlyNotifications } from '../engine/early-notifications.js';
import type { LinkMaker } from '../engine/links.js';
import type { NotificationLimits } from '../engine/notification-limits.js';
import type { LimitContext } from '../engine/payout-limits.js';
import type { HintContext } from '../engine/provider-notifications.js';
import type { ProviderRecords } from '../engine/provider-records.js';
import type { StartContext } from '../engine/start-payment.js';
import type { Metrics } from '../http/metrics.js';
import type { RequestLimits } from '../http/request-limits.js';
import type { Service } from '../payments/words/order.js';
import type { BalanceAnswer } from '../payments/words/outcome.js';

/** Reads the balance of one of the provider's services. */
export interface BalanceReader {
  balance(): Promise<BalanceAnswer>;
}

/** The provider's services as the API uses them: it reads both balances, and makes links. */
export interface ApiProviders {
  readonly collection: BalanceReader & LinkMaker;
  readonly payout: BalanceReader;
}

/** A balance, or why there is none, and when the provider was asked, in ms since the epoch. */
export interface KnownBalance {
  readonly answer: BalanceAnswer;
  readonly asOf: number;
}

/** Reads the balance of a service for all callers together. */
export interface SharedBalance {
  balance(): Promise<KnownBalance>;
}

/** Temporal's Web UI, where payments' workflows can be looked at. */
export interface WebUi {
  readonly url?: string | undefined;
  readonly namespace: string;
}

/** Dependencies of the routes' handlers. */
export interface ApiContext extends StartContext, HintContext, LimitContext {
  readonly namespace: string;
  readonly ui: WebUi;
  readonly providers: Readonly<Record<Service, SharedBalance>>;
  readonly providerRecords: ProviderRecords;
  readonly webhookToken: string;
  /**
   * Time of Temporal's last restore from a backup, in ms since the epoch. Refunds that were made before it may be
   * unknown.
   */
  readonly restoredAt?: number | undefined;
  readonly metrics: Metrics;
  readonly limits: NotificationLimits;
  /**
   * Checks that the process can serve. The answer may be a second old.
   *
   * @returns a warning for operators, if there is something to look at
   * @throws {ApiError} `temporarily_unavailable` when it can't.
   */
  readiness(): Promise<string | undefined>;
  /** The OpenAPI document, as JSON. */
  openApi(): Buffer;
  readonly requestLimits: RequestLimits;
  readonly early: EarlyNotifications;
}
