import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { PaymentTerms, Service } from '../payments/order.js';
import type { BalanceAnswer } from '../payments/outcome.js';
import type { HintLimit, KeepLimit } from './hint-limit.js';
import type { Metrics } from './metrics.js';
import type { WebUi } from './payment-view.js';
import type { Descriptions } from './payments/descriptions.js';
import type { SharedUpdates } from './payments/shared-updates.js';
import type { Shutdown } from './shutdown.js';

/** What the API needs of a provider's service. */
export interface BalanceReader {
  balance(): Promise<BalanceAnswer>;
}

/** For the provider's notifications; each process keeps its own count. */
export interface Limits {
  readonly hints: HintLimit;
  readonly reopenings: HintLimit;
  readonly kept: KeepLimit;
}

/** What routes work with. */
export interface Api {
  readonly client: Client;
  readonly descriptions: Descriptions;
  readonly updates: SharedUpdates;
  readonly taskQueue: string;
  readonly namespace: string;
  readonly ui: WebUi;
  readonly terms: PaymentTerms;
  readonly providers: Readonly<Record<Service, BalanceReader>>;
  readonly webhookToken: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly shutdown: Shutdown;
  readonly limits: Limits;
  /** ms after which a POST is answered 202 when the provider has not answered yet. */
  readonly answerWithinMs: number;
}
