import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PaymentEvent, RequestEvent } from '../../../src/payments/machine/events.js';
import { step } from '../../../src/payments/machine/machine.js';
import type { Todo } from '../../../src/payments/machine/plan.js';
import { objectionTo } from '../../../src/payments/machine/requests.js';
import { failureCodeOf, openPayment, type PaymentState, statusOf } from '../../../src/payments/words/payment-state.js';
import { PROVIDER_STATUSES } from '../../../src/payments/words/transaction.js';
import {
  DAY,
  directOrder,
  HOUR,
  linkOrder,
  orders,
  payoutOrder,
  START,
  terms,
  transactionOf,
  transId,
} from '../../support/orders.js';
import {
  absent,
  ambiguous,
  NOT_SENT,
  opened,
  paid,
  SILENT,
  THROTTLED_SEND,
  taken,
  throttled,
  UNAUTHORIZED,
  UNKNOWN,
  UNREAD,
} from '../../support/scenario.js';

describe('the payment machine', () => {
  it('refuses an answer that was not asked for', () => {
    const sent = { kind: 'sent', outcome: NOT_SENT } as const;
    for (const { payment } of [taken(payoutOrder), ambiguous(payoutOrder), paid(payoutOrder)]) {
      expect(() => step(payment, sent, START)).toThrow(`a payment that is ${payment.phase.kind} has not asked`);
    }
    const listed = { kind: 'listed', answer: { kind: 'listed', transactions: [] } } as const;
    for (const { payment } of [opened(payoutOrder), taken(payoutOrder)]) {
      expect(() => step(payment, listed, START)).toThrow('has not asked');
    }
  });

  it('changes nothing but what an event is about', () => {
    const { payment } = taken(payoutOrder);
    expect(step(payment, { kind: 'time' }, START + 1).payment).toEqual(payment);
    expect(step(payment, { kind: 'begin' }, START + 1).payment).toEqual(payment);
  });

  it('notes when something was news', () => {
    const payment = taken(linkOrder);
    expect(payment.found('PENDING').payment.updatedAt).toBe(payment.now);
    const pendingAt = payment.now;
    expect(payment.found('PENDING').payment.updatedAt).toBe(pendingAt);
  });

  it('goes on where it stood when a run begins', () => {
    for (const payment of [ambiguous(payoutOrder), taken(linkOrder), absent(payoutOrder).resend()]) {
      const { todo } = payment;
      payment.take({ kind: 'begin' });
      expect(payment.todo).toEqual(todo);
    }
  });
});

describe('a refresh', () => {
  it('asks the provider now, and is answered with its answer', () => {
    const payment = taken(payoutOrder).later(1_000).request('refresh');
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T1', isClaim: false });
    expect(payment.reply).toBeUndefined();
    expect(payment.answered(SILENT).reply).toEqual({ request: 1, kind: 'done' });
  });

  it('is not answered by the status of another transaction', () => {
    const payment = taken(payoutOrder).hint('T1').found('PENDING').hint('T1').found('PENDING');
    payment.hint('T1').found('PENDING').request('refresh').hint('T2');
    expect(payment.asks('askStatus').isClaim).toBe(true);
    expect(payment.answered(SILENT).reply).toBeUndefined();
    expect(payment.found('PENDING').reply?.kind).toBe('done');
  });

  it('is answered at once when there is nothing to ask', () => {
    for (const payment of [opened(payoutOrder), ambiguous(payoutOrder), absent(payoutOrder), paid(payoutOrder)]) {
      expect(payment.request('refresh').reply?.kind).toBe('done');
    }
  });

  it('may wait with three others; more are answered at once', () => {
    const payment = taken(payoutOrder).answered(throttled(HOUR));
    for (let request = 0; request < 6; request++) payment.request('refresh');
    expect(payment.replies.map(({ request }) => request)).toEqual([5, 6]);
    payment.found('PENDING');
    expect(payment.replies.map(({ request }) => request)).toEqual([5, 6, 1, 2, 3, 4]);
  });
});

describe('an expiry', () => {
  it.each([
    ['NotALink', taken(directOrder)],
    ['NotInitiated', ambiguous(linkOrder)],
    ['NotExpirable', paid(linkOrder)],
    ['NotExpirable', taken(linkOrder).found('SUCCESSFUL', { amount: 1 })],
  ] as const)('is refused as %s', (type, payment) => {
    expect(payment.request('expire').reply).toMatchObject({ kind: 'refused', type });
  });
});

describe('what can be said against a request without asking', () => {
  it('is what the request would be refused for', () => {
    const requests: RequestEvent[] = [
      { kind: 'expire', request: 1 },
      { kind: 'refresh', request: 1 },
      { kind: 'recheck', request: 1 },
      {
        kind: 'decide',
        request: 1,
        resolution: { decision: { action: 'resend' }, review: 1, by: 'ops', why: 'x', force: false },
      },
    ];
    for (const { payment, now } of [opened(linkOrder), taken(linkOrder), absent(payoutOrder), paid(payoutOrder)]) {
      for (const request of requests) {
        const [reply] = step(payment, request, now).replies;
        const objection = objectionTo(payment, request, now);
        if (objection === undefined) expect(reply?.kind).not.toBe('refused');
        else expect(reply).toEqual({ request: 1, kind: 'refused', ...objection });
      }
    }
  });
});

/** Something that happens to a payment beside the answers that it asks for. */
const messages = fc.oneof(
  fc.record({
    kind: fc.constant('hint' as const),
    transId: fc.constantFrom('T1', 'T2', 'T3').map(transId),
    status: fc.constantFrom(...PROVIDER_STATUSES),
  }),
  fc.record({ kind: fc.constantFrom('expire', 'refresh', 'recheck') }),
  fc.record({
    kind: fc.constant('decide' as const),
    decision: fc.constantFrom(
      { action: 'resend' } as const,
      { action: 'fail' } as const,
      { action: 'match', transId: transId('T1') } as const,
      { action: 'match', transId: transId('T2') } as const,
    ),
    force: fc.boolean(),
    isOutdated: fc.boolean(),
  }),
  fc.constantFrom({ kind: 'time' } as const, { kind: 'begin' } as const),
);

const listed = fc.record({
  transId: fc.constantFrom('T1', 'T2').map(transId),
  status: fc.constantFrom(...PROVIDER_STATUSES),
  amount: fc.constantFrom(5_000, 5_000, 5_000, 1, undefined),
  externalId: fc.constantFrom('own', 'own', 'own', undefined, 'pay_other'),
});

const noAnswers = fc.constantFrom(SILENT, UNAUTHORIZED, throttled(), throttled(90_000));

/** All that the provider and the merchant may answer; the todo chooses among them. */
const answers = fc.record({
  sent: fc.constantFrom(
    { kind: 'accepted', transId: transId('T1'), link: 'http://pay.example/1' } as const,
    { kind: 'accepted', transId: transId('T2') } as const,
    { kind: 'ambiguous', reason: 'reset' } as const,
    { kind: 'ambiguous', reason: 'reset' } as const,
    { kind: 'rejected', message: 'no', statusCode: 400 } as const,
    { kind: 'unauthorized', message: 'no', statusCode: 401 } as const,
    NOT_SENT,
    UNREAD,
    THROTTLED_SEND,
  ),
  isAnswered: fc.nat({ max: 3 }).map((chance) => chance > 0),
  noAnswer: noAnswers,
  isUnknown: fc.nat({ max: 9 }).map((chance) => chance === 0),
  list: fc.array(listed, { maxLength: 2 }),
  status: listed,
  expiry: fc.constantFrom({ kind: 'alreadyExpired' } as const, SILENT, throttled(30_000)),
  latency: fc.constantFrom(0, 50, 15_000),
});

const happenings = fc.array(
  fc.record({
    answer: answers,
    message: fc.option(messages, { nil: undefined }),
    pause: fc.constantFrom(0, 0, 100, 5_000, 120_000, HOUR, 2 * DAY),
  }),
  { maxLength: 80 },
);

type Answers = typeof answers extends fc.Arbitrary<infer T> ? T : never;
type Message = typeof messages extends fc.Arbitrary<infer T> ? T : never;

/** A payment and its world, at random; every fact that must hold in each step is checked in each. */
class RandomRun {
  payment: PaymentState;
  todo: Todo = { kind: 'wait', summary: '' };
  now = START;
  /** Requests to send money, or a link, by whose decision. */
  readonly sends = { order: 0, policy: 0, operator: 0 };
  private readonly asked = new Set<number>();
  private requests = 0;

  constructor(
    private readonly order: (typeof orders)[number],
    policy: 'review' | 'resend',
  ) {
    const given = { ...terms, ambiguousPolicy: policy, resolveAfterMs: 60_000 };
    this.payment = openPayment(order, given, START);
    this.take({ kind: 'begin' });
  }

  take(event: PaymentEvent): void {
    const before = this.payment;
    const { payment, todo, replies, notified } = step(before, event, this.now);
    this.payment = payment;
    this.todo = todo;
    for (const { request } of replies) expect(this.asked.delete(request)).toBe(true);
    this.checkTodo();
    this.checkRequests();
    this.checkOutcome(before, event);
    expect(payment.notified).toBe(before.notified + (notified === undefined ? 0 : 1));
    const { phase } = payment;
    if (phase.kind === 'ended' && before.phase.kind !== 'ended') {
      expect(notified).toBe(
        { SUCCESSFUL: 'payment.succeeded', FAILED: 'payment.failed', EXPIRED: 'payment.expired' }[phase.status],
      );
    }
  }

  private checkTodo(): void {
    const { todo, payment } = this;
    if (todo.kind === 'wait' && todo.until !== undefined) expect(todo.until).toBeGreaterThan(this.now);
    if (todo.kind === 'send') expect(payment.phase.kind).toBe('sending');
    if (todo.kind === 'askStatus' || todo.kind === 'lookUp' || todo.kind === 'expire') {
      expect(payment.quietUntil ?? 0).toBeLessThanOrEqual(this.now);
    }
    if (todo.kind === 'end') {
      expect(payment.phase.kind).toBe('ended');
      expect(payment.claims.open).toEqual([]);
    }
  }

  /** Anybody who asked for something is answered, or waits for what is under way. */
  private checkRequests(): void {
    const { phase, pendingRequests } = this.payment;
    const waiting = pendingRequests.map(({ request }) => request);
    if (phase.kind === 'deciding') waiting.push(phase.request);
    expect([...this.asked].sort()).toEqual(waiting.sort());
  }

  private checkOutcome(before: PaymentState, event: PaymentEvent): void {
    const { phase } = this.payment;
    if (before.phase.kind === 'sending') {
      const { ambiguity, unsent } = before.phase;
      // What was sent before may have been taken, and a notification may say so.
      const mayBeRecalled = event.kind === 'hint' && (ambiguity ?? unsent) !== undefined;
      const isWithdrawn = event.kind === 'expire' && failureCodeOf(this.payment) === 'withdrawn';
      expect(event.kind === 'sent' || phase.kind === 'sending' || mayBeRecalled || isWithdrawn).toBe(true);
    }
    if (before.phase.kind === 'ended') expect(['ended', 'review']).toContain(phase.kind);
    if (before.phase.kind === 'ended' && phase.kind === 'ended') expect(phase.status).toBe(before.phase.status);
    if (before.phase.kind === 'review') expect(phase.kind).not.toBe('sending');
    if (before.phase.kind === 'review' && before.phase.held) {
      expect(['review', 'deciding']).toContain(phase.kind);
    }
    if (phase.kind === 'review' && before.phase.kind !== 'deciding') {
      expect(phase.number).toBe(this.payment.reviews);
    }
  }

  /** Does what the payment asks for. */
  do(answer: Answers): void {
    const { todo } = this;
    if (todo.kind === 'wait' || todo.kind === 'end') return;
    if (todo.kind === 'send') this.sends[todo.cause] += isMaybeTaken(answer) ? 1 : 0;
    this.now += answer.latency;
    this.take(this.answerTo(todo, answer));
  }

  private answerTo(todo: Exclude<Todo, { kind: 'wait' | 'end' }>, answer: Answers): PaymentEvent {
    const { isAnswered, noAnswer, list, status, expiry } = answer;
    switch (todo.kind) {
      case 'send':
        return { kind: 'sent', outcome: answer.sent };
      case 'lookUp': {
        const transactions = list.map((one) => this.transaction(one));
        return { kind: 'listed', answer: isAnswered ? { kind: 'listed', transactions } : noAnswer };
      }
      case 'askStatus': {
        const { transId: asked, isClaim } = todo;
        const transaction = this.transaction({ ...status, transId: asked });
        const found = answer.isUnknown ? UNKNOWN : ({ kind: 'found', transaction } as const);
        return { kind: 'status', transId: asked, isClaim, answer: isAnswered ? found : noAnswer };
      }
      case 'expire':
        return { kind: 'expired', transId: todo.transId, answer: expiry };
    }
  }

  private transaction({ externalId, ...rest }: Answers['status']) {
    const id = externalId === 'own' ? this.order.id : externalId;
    return transactionOf(this.order, { ...rest, externalId: id });
  }

  hear(message: Message): void {
    this.take(this.eventOf(message));
  }

  private eventOf(message: Message): PaymentEvent {
    switch (message.kind) {
      case 'hint':
        return message;
      case 'time':
      case 'begin':
        return { kind: message.kind };
      case 'decide': {
        const { decision, force, isOutdated } = message;
        const review = this.payment.reviews - (isOutdated ? 1 : 0);
        const resolution = { decision, force, review, by: 'ops', why: 'x' };
        return { kind: 'decide', request: this.nextRequest(), resolution };
      }
      default:
        return { kind: message.kind, request: this.nextRequest() };
    }
  }

  private nextRequest(): number {
    this.asked.add(++this.requests);
    return this.requests;
  }

  /** Time passes, but not past what the payment waits for. */
  pass(pause: number): void {
    if (this.todo.kind !== 'wait' && this.todo.kind !== 'end') return;
    const until = this.todo.kind === 'wait' ? this.todo.until : undefined;
    this.now = Math.min(this.now + pause, until ?? Number.POSITIVE_INFINITY);
    this.take({ kind: 'time' });
  }
}

function isMaybeTaken({ sent }: Answers): boolean {
  return sent.kind === 'accepted' || sent.kind === 'ambiguous';
}

describe('any payment, whatever happens to it', () => {
  const policies = fc.constantFrom('review' as const, 'resend' as const);

  it('always knows what to do next, and answers everybody who asked', () => {
    fc.assert(
      fc.property(fc.constantFrom(...orders), policies, happenings, (order, policy, all) => {
        const run = new RandomRun(order, policy);
        for (const { answer, message, pause } of all) {
          run.do(answer);
          run.pass(pause);
          if (message !== undefined && run.todo.kind !== 'send') run.hear(message);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('sends money once by itself, and once more only by the policy that says so', () => {
    fc.assert(
      fc.property(fc.constantFrom(directOrder, payoutOrder), policies, happenings, (order, policy, all) => {
        const run = new RandomRun(order, policy);
        for (const { answer, message, pause } of all) {
          run.do(answer);
          run.pass(pause);
          if (message !== undefined && message.kind !== 'decide') run.hear(message);
        }
        expect(run.sends.order).toBeLessThanOrEqual(1);
        expect(run.sends.policy).toBeLessThanOrEqual(policy === 'resend' ? 1 : 0);
        expect(run.sends.operator).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('is plain data, that comes out of JSON as it went in', () => {
    fc.assert(
      fc.property(fc.constantFrom(...orders), policies, happenings, (order, policy, all) => {
        const run = new RandomRun(order, policy);
        for (const { answer, pause } of all) {
          run.do(answer);
          run.pass(pause);
        }
        const carried: PaymentState = JSON.parse(JSON.stringify(run.payment));
        expect(statusOf(carried)).toBe(statusOf(run.payment));
        expect(step(carried, { kind: 'begin' }, run.now).todo).toEqual(
          step(run.payment, { kind: 'begin' }, run.now).todo,
        );
      }),
      { numRuns: 200 },
    );
  });
});
