import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { patiently } from '../book/database.js';
import { type Taking, type Turn, takeTurn } from '../book/turn.js';
import type { Todo } from '../payments/machine/plan.js';
import { STATUS_CALLS_BUDGETED } from '../payments/machine/polling.js';
import { describePayment } from '../payments/views/describe-payment.js';
import type { PaymentOrder } from '../payments/words/order.js';
import type { PaymentStatus } from '../payments/words/payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { statusOf, transIdOf } from '../payments/words/payment-state.js';
import { toTransIdKeyword } from '../temporal/search-attributes.js';
import { askProvider } from './asking.js';
import { callLimit } from './call-limit.js';
import { unknownPayment } from './failures.js';
import { type SendingContext, sendAttempt, timeToSend } from './sending.js';
import { StatusLimit } from './status-limit.js';

/** What the activities call. */
export interface ActivityDependencies extends Omit<SendingContext, 'statusLimit' | 'now'> {
  readonly book: Book;
  readonly logger: Logger;
  /** Told of each turn that is taken. */
  readonly reports: { readonly report: (turn: Turn) => void };
  /** ms since the epoch */
  readonly now?: (() => number) | undefined;
}

/** What a payment's workflow has to do next, and what it shows operators. */
export interface Step {
  readonly todo:
    | { readonly kind: 'send' /** Time limit of the activity that sends it, in ms. */; readonly withinMs: number }
    | { readonly kind: 'wait'; readonly summary: string; readonly until?: number | undefined }
    /** `ask`: the next turn asks something more. */
    | { readonly kind: 'ask' | 'end' };
  readonly token?: number | undefined;
  readonly attempt: number;
  readonly version: number;
  /** Time of the turn by the worker's clock, as `until` is, in ms since the epoch: Temporal's may differ. */
  readonly at: number;
  readonly shown: Shown;
}

/** What operators see of a payment in Temporal's Web UI; nothing personal. */
export interface Shown {
  readonly status: PaymentStatus;
  readonly transId?: string | undefined;
  /** Markdown. */
  readonly details: string;
}

/** An attempt to send, by the token with which it was decided. */
interface Attempted {
  readonly token: number;
  readonly attempt: number;
}

/** For how long a turn is tried again while the book is away, after a question: its answer is kept so long, in ms. */
const KEEP_ANSWER_MS = 10_000;

/**
 * Makes the activities of the payment workflows. None throws for what the provider or the network does: every answer is
 * a value that the payment's next turn decides on, so that Temporal never repeats a call by retrying. What becomes of a
 * request for money stands in the book, and is no activity's result.
 */
export function createActivities(dependencies: ActivityDependencies) {
  const { book, now = book.now } = dependencies;
  const context: SendingContext = {
    ...dependencies,
    now,
    statusLimit: new StatusLimit(STATUS_CALLS_BUDGETED),
  };

  const turn = async (id: PaymentId, taking: Taking): Promise<Turn> => {
    const taken = await takeTurn(book, id, taking, now());
    if (taken === undefined) throw unknownPayment(id);
    dependencies.reports.report(taken);
    return taken;
  };

  const send = (id: PaymentId, attempted: Attempted): Promise<void> => sendAttempt(context, { id, ...attempted });

  return {
    /** Takes a payment's turn. What that asks the provider is asked at once, and the turn with the answer is taken. */
    async takeTurn(id: PaymentId, taking: Taking): Promise<Step> {
      const limit = callLimit();
      const taken = await turn(id, taking);
      const done = await askProvider(context, taken, limit);
      if (done === undefined) return toStep(taken);
      // Without the turn, the provider would be asked again.
      return toStep(await patiently(() => turn(id, { done, told: taken }), KEEP_ANSWER_MS));
    },

    createLink: send,
    requestOnPhone: send,
    sendPayout: send,
  };
}

export type Activities = ReturnType<typeof createActivities>;

function toStep({ todo, token, attempt, version, at, after }: Turn): Step {
  const transId = transIdOf(after);
  const shown: Shown = {
    status: statusOf(after),
    ...(transId !== undefined && { transId: toTransIdKeyword(transId) }),
    details: describePayment(after),
  };
  return { todo: toWork(todo, after.order, after.terms.providerTimeoutMs), token, attempt, version, at, shown };
}

function toWork(todo: Todo, order: PaymentOrder, providerTimeoutMs: number): Step['todo'] {
  switch (todo.kind) {
    case 'send':
      return { kind: 'send', withinMs: timeToSend(order, providerTimeoutMs) };
    case 'lookUp':
    case 'askStatus':
    case 'expire':
      return { kind: 'ask' };
    case 'wait':
      return { kind: 'wait', summary: todo.summary, ...(todo.until !== undefined && { until: todo.until }) };
    case 'end':
      return { kind: 'end' };
  }
}
