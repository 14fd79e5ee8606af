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

/** What the load itself has measured. */
export interface LoadFigures {
  /** Payments whose notification reached the merchant, a second. */
  readonly perSecond: number;
  /** From the POST to its response with the link, in ms. */
  readonly startP50: number;
  readonly startP99: number;
  /** From the provider's notification to the merchant's, in ms. */
  readonly outcomeP50: number;
  readonly outcomeP99: number;
  /** From the POST to the merchant's notification, in ms. The payer's 30 to 50 ms are part of it. */
  readonly totalP50: number;
  readonly totalP99: number;
  /** Notifications of the provider that the system didn't take at first. */
  readonly resent: number;
  /** POSTs that were answered 202, without the link. */
  readonly withoutLink: number;
}

/** What came of them. */
export type LoadResult =
  | ({
      readonly kind: 'done';
      /** The payments' ids. */
      readonly ids: readonly string[];
    } & LoadFigures)
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
