/** Messages between the benchmark and its load process. */

/** One API process of a system. */
export interface ApiAddress {
  /** Takes the merchant's POST. */
  readonly createUrl: string;
  /** Takes the provider's notifications. */
  readonly webhookUrl: string;
}

/** Addresses of one system. With several processes, each gets its turn, as behind a load balancer. */
export interface LoadTarget {
  readonly apis: readonly ApiAddress[];
  readonly apiKey: string;
}

/**
 * A payer pays after some ms, never pays, or pays another amount than the payment's, which leaves the payment under
 * review.
 */
export type Payer = 'pays' | 'waits' | 'disputes';

/**
 * Pace of the payments: a number in progress at a time, or a number begun each second, whatever becomes of the earlier
 * ones.
 */
export type Pace = { readonly concurrency: number } | { readonly perSecond: number };

/** An order to the load process. */
export type LoadOrder =
  | {
      readonly kind: 'make';
      /** Begins the name of each payment, and so must be new for each order. */
      readonly name: string;
      readonly target: LoadTarget;
      readonly payments: number;
      readonly pace: Pace;
      readonly payer: Payer;
      /** Sends a POST again that was refused for the moment (429, 503), as merchants do. Otherwise, it is a failure. */
      readonly repeatsRefused: boolean;
    }
  /** Lets the payers of payments pay that have waited for longest. */
  | {
      readonly kind: 'pay';
      readonly target: LoadTarget;
      readonly payments: number;
      readonly concurrency: number;
    };

export type MakeOrder = Extract<LoadOrder, { readonly kind: 'make' }>;
export type PayOrder = Extract<LoadOrder, { readonly kind: 'pay' }>;

/** Figures of the load itself. */
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
  /** POSTs that were refused for the moment, and sent again. */
  readonly repeated: number;
  /** Notifications that the merchant got again, under the same `webhook-id`. Another one would be a failure. */
  readonly notifiedAgain: number;
}

/** Figures of payments that had waited for their payer. */
export interface PaidFigures {
  readonly payments: number;
  /** From the provider's notification to the merchant's, in ms. */
  readonly outcomeP50: number;
  readonly outcomeP99: number;
}

export type LoadResult =
  | ({
      readonly kind: 'done';
      /** The payments' ids. */
      readonly ids: readonly string[];
    } & LoadFigures)
  /** Payments were made that haven't ended. */
  | {
      readonly kind: 'prepared';
      /** Payments that wait for their payer, of this order and earlier ones. */
      readonly waiting: number;
      /** Payments of this order that are under review. */
      readonly inReview: number;
      /** Errors of the order's other payments. */
      readonly why?: string;
    }
  | ({ readonly kind: 'paid' } & PaidFigures)
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
