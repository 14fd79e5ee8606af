import type { PaymentAnswer } from './merchant.js';
import type { Scenario } from './scenarios.js';

/** One scenario as far as it has come. */
export interface Row {
  readonly scenario: Scenario;
  /** As the merchant saw it last; absent until the API has answered. */
  readonly payment?: PaymentAnswer;
  /** From the request to the final status, in ms. */
  readonly ms?: number;
  /** In the workflow's history up to its end. */
  readonly events?: number;
  readonly done: boolean;
  /** What went otherwise than it should. */
  readonly problems: readonly string[];
}

/** The payment's line of `--json`: the whole interface of the demo to other programs. */
export function jsonOf({ payment, ms, events }: Row): string | undefined {
  if (payment === undefined) return undefined;
  const { id, kind, method, status, final, temporalUrl } = payment;
  return JSON.stringify({
    id,
    kind,
    method: method ?? null,
    status,
    final,
    ms: ms ?? null,
    events: events ?? null,
    url: temporalUrl ?? null,
  });
}
