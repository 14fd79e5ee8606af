import type { Statements } from '../book/statements.js';
import type { LinkMaker } from '../engine/links.js';
import type { NotificationLimits } from '../engine/notification-limits.js';
import type { OrderContext } from '../engine/order.js';
import type { LookContext, ProviderLooks, ProviderReader } from '../engine/provider-looks.js';
import type { HintContext } from '../engine/provider-notifications.js';
import type { Metrics } from '../http/metrics.js';
import type { RequestLimits } from '../http/request-limits.js';
import type { Service } from '../payments/words/order.js';
import type { BalanceAnswer } from '../payments/words/outcome.js';

/** Reads the balance of one of the provider's services. */
export interface BalanceReader {
  balance(): Promise<BalanceAnswer>;
}

/** The provider's services as the API uses them: it reads what they know, and makes links. */
export interface ApiProviders {
  readonly collection: BalanceReader & ProviderReader & LinkMaker;
  readonly payout: BalanceReader & ProviderReader;
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
export interface ApiContext extends OrderContext, HintContext, LookContext {
  readonly namespace: string;
  readonly ui: WebUi;
  readonly providers: Readonly<Record<Service, SharedBalance>>;
  readonly looks: ProviderLooks;
  readonly statements: Statements;
  readonly webhookToken: string;
  readonly metrics: Metrics;
  readonly limits: NotificationLimits;
  /**
   * Checks that the process can serve. The answer may be a second old.
   *
   * @throws {ApiError} `temporarily_unavailable` when it can't.
   */
  readiness(): Promise<void>;
  /** The OpenAPI document, as JSON. */
  openApi(): Buffer;
  readonly requestLimits: RequestLimits;
}
