/** What the benchmark and its load process say to each other. */

/** Where one system takes payments and notifications. */
export interface LoadTarget {
  readonly createUrl: string;
  readonly apiKey: string;
  /** Where the provider's stub is to send its notifications. */
  readonly webhookUrl: string;
}

/** Payments to make. */
export interface LoadOrder {
  /** Begins the name of each payment, and so must be new for each order. */
  readonly name: string;
  readonly target: LoadTarget;
  readonly payments: number;
  readonly concurrency: number;
}

/** What came of them. Times are in ms. */
export type LoadResult =
  | {
      readonly kind: 'done';
      /** The payments' ids. */
      readonly ids: readonly string[];
      readonly perSecond: number;
      readonly startP50: number;
      readonly startP99: number;
      readonly outcomeP50: number;
      readonly outcomeP99: number;
      readonly totalP50: number;
      readonly totalP99: number;
      /** Notifications of the provider that the system didn't take at first. */
      readonly resent: number;
      /** POSTs that were answered 202, without the link. */
      readonly withoutLink: number;
    }
  | { readonly kind: 'failed'; readonly why: string };

/** Sent once, when the load process can be called. */
export interface LoadReady {
  readonly kind: 'ready';
  readonly providerPort: number;
  readonly merchantPort: number;
}

/** The answer to an order. */
export interface LoadAnswer {
  readonly kind: 'answer';
  readonly result: LoadResult;
  /** 99th percentile of how long the event loop was held up meanwhile, in ms. */
  readonly delayP99: number;
}
