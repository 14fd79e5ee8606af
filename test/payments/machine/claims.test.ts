import { describe, expect, it } from '@jest/globals';
import { CLAIM_PAUSE_MS } from '../../../src/payments/machine/claims.js';
import { namedIn } from '../../../src/payments/words/payment-state.js';
import { UNNAMED } from '../../../src/payments/words/phase.js';
import { directOrder, HOUR, linkOrder, MINUTE, payoutOrder, transactionOf, transId } from '../../support/orders.js';
import {
  absent,
  ambiguous,
  backoff,
  opened,
  paid,
  type Scenario,
  SILENT,
  taken,
  throttled,
  UNAUTHORIZED,
  UNKNOWN,
} from '../../support/scenario.js';

const openOf = ({ payment }: Scenario) => payment.claims.open.map(({ transId: id }) => id);

/** A payment that nothing but reports has a question for during the next hours. */
function quietPayment(): Scenario {
  const payment = paid(payoutOrder);
  payment.asks('end');
  return payment;
}

/** Times of the questions about a reported transaction that always gets the same answer, in ms from the first. */
function questions(payment: Scenario, answer: Parameters<Scenario['answered']>[0]): number[] {
  const times: number[] = [];
  const first = payment.now;
  while (openOf(payment).length > 0) {
    expect(payment.asks('askStatus').isClaim).toBe(true);
    times.push(payment.now - first);
    payment.answered(answer);
  }
  return times;
}

describe('a notification', () => {
  it('is no report when it is about the payment’s own transaction', () => {
    const payment = taken(linkOrder).hint('T1');
    expect(openOf(payment)).toEqual([]);
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T1', isClaim: false });
  });

  it('is no reason to ask when the payment has ended as it says', () => {
    const payment = quietPayment();
    const before = payment.payment;
    expect(payment.hint('T1', 'SUCCESSFUL').todo).toEqual({ kind: 'end' });
    expect(payment.payment).toEqual(before);
  });

  it('is a report when it contradicts the outcome, or names another transaction', () => {
    expect(openOf(quietPayment().hint('T1', 'FAILED'))).toEqual(['T1']);
    const payment = taken(linkOrder).hint('T2');
    expect(openOf(payment)).toEqual(['T2']);
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T2', isClaim: true });
  });

  it('keeps an ended payment from ending until the provider has answered', () => {
    const payment = quietPayment().hint('T2', 'FAILED');
    expect(payment.answered(SILENT).todo.kind).toBe('wait');
    expect(payment.found('FAILED').todo).toEqual({ kind: 'end' });
  });

  it('waits until it is known what the payment’s own request came to', () => {
    const payment = opened(payoutOrder).hint('T2');
    expect(payment.todo.kind).toBe('send');
    payment.sent({ kind: 'accepted', transId: transId('T1') });
    expect(payment.todo).toEqual({ kind: 'askStatus', transId: 'T2', isClaim: true });
  });
});

describe('reports', () => {
  it('are open once each, and five at most, however many are made up', () => {
    const payment = quietPayment();
    for (let copy = 0; copy < 1_000; copy++) payment.hint(`X${copy % 100}`);
    expect(openOf(payment)).toEqual(['X0', 'X1', 'X2', 'X3', 'X4']);
  });

  it('make room when the provider has said that it does not know one', () => {
    const payment = quietPayment();
    for (let copy = 0; copy < 5; copy++) payment.hint(`X${copy}`);
    payment.answered(UNKNOWN).hint('T2');
    expect(openOf(payment)).toEqual(['X1', 'X2', 'X3', 'X4', 'T2']);
    payment.hint('T3');
    expect(openOf(payment)).not.toContain('T3');
  });

  it('are asked about once a minute, all together', () => {
    const payment = quietPayment();
    for (let copy = 0; copy < 5; copy++) payment.hint(`X${copy}`);
    let last = payment.now - CLAIM_PAUSE_MS;
    for (let asked = 0; asked < 12; asked++) {
      payment.asks('askStatus');
      expect(payment.now - last).toBeGreaterThanOrEqual(CLAIM_PAUSE_MS);
      last = payment.now;
      payment.answered(asked % 2 === 0 ? SILENT : UNKNOWN);
    }
  });

  it('are asked about in turn: one without an answer holds none up', () => {
    const payment = quietPayment().hint('X1').answered(SILENT).hint('T2');
    expect(payment.asks('askStatus').transId).toBe('T2');
  });

  it.each([SILENT, UNAUTHORIZED])(
    'are given up after eight questions without an answer, and remembered ($kind)',
    (answer) => {
      const payment = quietPayment().hint('T2');
      const minutes = questions(payment, answer).map((time) => time / MINUTE);
      expect(minutes).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
      expect(payment.payment.claims).toMatchObject({ open: [], unconfirmed: ['T2'] });
    },
  );

  it.each(['SUCCESSFUL', 'FAILED'] as const)(
    'are looked for in the list when they were given up after the end: at once, after an hour and a day (%s)',
    (status) => {
      const payment = quietPayment().hint('T2');
      questions(payment, SILENT);
      const from = payment.now;
      expect(payment.phase('ended').checks.map(({ at }) => at - from)).toEqual([0, HOUR, 24 * HOUR]);
      const { order } = payment.payment;
      const [own, second] = [transactionOf(order, { status: 'SUCCESSFUL' }), { transId: transId('T2'), status }];
      payment.listed(own, transactionOf(order, second));
      expect(payment.status).toBe(status === 'FAILED' ? 'SUCCESSFUL' : 'REVIEW');
    },
  );

  it.each([
    ['the payment’s own', 'T1', () => taken(payoutOrder).found('FAILED').later(HOUR)],
    ['one that had failed', 'T2', () => quietPayment().hint('T2').found('FAILED').later(HOUR)],
  ])(
    'are asked about again after the end when they are known, and a list that leaves them out proves nothing: %s',
    (_, id, ended) => {
      const payment = ended().hint(id, 'SUCCESSFUL');
      questions(payment, SILENT);
      payment.answered(SILENT).listed();
      expect(payment.phase('ended').checks).toHaveLength(3);
      expect(payment.found('SUCCESSFUL').status).toBe('REVIEW');
      expect(payment.phase('review').why).toContain('SUCCESSFUL');
    },
  );

  it('are asked about at the end when they are known, and had been given up before', () => {
    const payment = taken(payoutOrder)
      .hint('T2')
      .found('FAILED')
      .later(2 * MINUTE)
      .hint('T2');
    for (let times = 0; times < 200 && payment.payment.claims.unconfirmed.length === 0; times += 1) {
      const { transId: asked } = payment.asks('askStatus');
      if (asked === 'T2') payment.answered(SILENT);
      else payment.found('PENDING');
    }
    while (payment.payment.phase.kind !== 'ended') payment.found('SUCCESSFUL');
    expect(payment.asks('askStatus').transId).toBe('T2');
    expect(payment.answered(SILENT).listed().phase('ended').checks).toHaveLength(3);
    expect(payment.found('SUCCESSFUL').phase('review').why).toContain('T2 (SUCCESSFUL)');
  });

  it('are put before a person when the list can not be read in their place, either', () => {
    const payment = quietPayment().hint('T2');
    questions(payment, SILENT);
    for (let times = 1; payment.status === 'SUCCESSFUL' && times < 100; times += 1) payment.listing(SILENT);
    expect(payment.phase('review').why).toMatch("couldn't be checked");
  });

  it('have the list read for one that there is no room to ask about', () => {
    const payment = quietPayment();
    for (const id of ['X1', 'X2', 'X3', 'X4', 'X5']) payment.hint(id);
    expect(payment.hint('T2').payment.claims).toMatchObject({ unconfirmed: ['T2'] });
    expect(payment.payment.claims.open).toHaveLength(5);
    expect(payment.hint('T2').hint('T3').phase('ended').checks).toHaveLength(3);
    payment.listed(
      transactionOf(payoutOrder, { status: 'SUCCESSFUL' }),
      transactionOf(payoutOrder, { transId: transId('T2'), status: 'SUCCESSFUL' }),
    );
    expect(payment.phase('review').why).toContain('T2 (SUCCESSFUL)');
  });

  it('make room for a known one, though the provider has said nothing of them yet', () => {
    const payment = taken(payoutOrder).found('FAILED');
    for (const id of ['T2', 'T3', 'T4', 'T5', 'T6', 'T1']) payment.hint(id);
    expect(openOf(payment)).toEqual(['T3', 'T4', 'T5', 'T6', 'T1']);
    expect(payment.payment.claims.unconfirmed).toEqual(['T2']);
    expect(payment.phase('ended').checks).toHaveLength(3);
  });

  it('have the list read for one that had to make room for another', () => {
    const payment = taken(payoutOrder);
    payment.hint('T2').answered(UNKNOWN);
    for (const id of ['T3', 'T4', 'T5', 'T6', 'T7']) payment.hint(id);
    expect(payment.payment.claims.open.map(({ transId: id }) => id)).not.toContain('T2');
    expect(payment.payment.claims.unconfirmed).toEqual(['T2']);
    expect(payment.payment.sends.mayBeDouble).toBe(true);
  });

  it('are missing no more once the provider has shown what they name', () => {
    const payment = absent(payoutOrder).hint('T2');
    while (payment.payment.claims.open.length > 0) {
      const { todo } = payment;
      if (todo.kind === 'wait') payment.at(todo.until ?? 0);
      else if (todo.kind === 'askStatus') payment.answered(SILENT);
      else payment.listed();
    }
    expect(payment.payment.claims.unconfirmed).toEqual(['T2']);
    expect(payment.fail().reply).toMatchObject({ kind: 'refused' });
    payment.match('T2').found('PENDING');
    expect(payment.payment.claims.unconfirmed).toEqual([]);
  });

  it('remember five of those that were given up, the latest', () => {
    const payment = quietPayment();
    for (let copy = 0; copy < 7; copy++) {
      questions(payment.hint(`X${copy}`), SILENT);
      for (let checks = 1; checks <= 3; checks++) payment.listed(transactionOf(payoutOrder, { status: 'SUCCESSFUL' }));
    }
    expect(payment.payment.claims.unconfirmed).toEqual(['X2', 'X3', 'X4', 'X5', 'X6']);
  });

  it('still count as one that is not known by its id when later ones have pushed them out', () => {
    const payment = absent(payoutOrder);
    for (const name of ['T2', 'X1', 'X2', 'X3', 'X4', 'X5']) {
      payment.hint(name);
      while (payment.payment.claims.open.length > 0) {
        const { todo } = payment;
        if (todo.kind === 'wait') payment.at(todo.until ?? 0);
        else if (todo.kind === 'askStatus') payment.answered(SILENT);
        else payment.listed();
      }
    }
    expect(payment.payment.claims.unconfirmed).toEqual(['X1', 'X2', 'X3', 'X4', 'X5']);
    expect(namedIn(payment.payment)).toContain(UNNAMED);
  });

  it('wait for as long as the provider asks', () => {
    const payment = quietPayment().hint('T2').answered(throttled(HOUR));
    expect(payment.todo).toMatchObject({ kind: 'wait', until: payment.now + HOUR });
  });

  it('are believed to be of unknown transactions only after 1, 5 and 30 minutes more', () => {
    const payment = quietPayment().hint('T2');
    expect(questions(payment, UNKNOWN).map((time) => time / MINUTE)).toEqual([0, 1, 6, 36]);
    expect(payment.payment.claims).toMatchObject({ open: [], unconfirmed: [] });
  });

  it('are over when the transaction is known in the end', () => {
    const payment = quietPayment().hint('T2').answered(UNKNOWN).answered(SILENT).found('SUCCESSFUL');
    expect(openOf(payment)).toEqual([]);
    expect(payment.status).toBe('REVIEW');
  });

  it('keep within the status budget of their transaction', () => {
    const payment = taken(payoutOrder).hint('T2').match('T2');
    expect(payment.reply?.kind).toBe('refused');
    payment.answered(UNKNOWN).answered(UNKNOWN);
    expect(payment.payment.recentQuestions.filter(({ transId: id }) => id === 'T2')).toHaveLength(2);
  });
});

describe('a reported transaction', () => {
  const another = { transId: transId('T2') };

  it('is nobody’s business when it was made for another payment, or says nothing of for which', () => {
    for (const externalId of ['pay_other', undefined]) {
      const payment = quietPayment().hint('T2').found('SUCCESSFUL', { externalId });
      expect(payment.status).toBe('SUCCESSFUL');
      expect(payment.payment.others).toEqual([]);
    }
  });

  it('is asked about again, three times, while the provider does not say for which payment it was made', () => {
    const nameless = { externalId: undefined, userId: undefined };
    const doubtful = quietPayment().hint('T2').found('SUCCESSFUL', nameless);
    doubtful.found('SUCCESSFUL', nameless).found('SUCCESSFUL');
    expect(doubtful.phase('review').why).toBe('the provider has another transaction for this payment: T2 (SUCCESSFUL)');
    const never = quietPayment().hint('T2');
    for (let times = 1; times <= 4; times += 1) never.found('SUCCESSFUL', nameless);
    expect(never.status).toBe('SUCCESSFUL');
    expect(never.payment.claims.open).toEqual([]);
  });

  it('is looked for in the list when the provider has shown it, whatever it says of it last', () => {
    const nameless = { externalId: undefined, userId: undefined };
    const payment = quietPayment().hint('T2').answered(UNKNOWN).found('SUCCESSFUL', nameless);
    payment.answered(UNKNOWN).answered(UNKNOWN);
    expect(payment.payment.claims).toMatchObject({ open: [], unconfirmed: ['T2'] });
    expect(payment.phase('ended').checks).not.toEqual([]);
    payment.listed(
      transactionOf(payoutOrder, { status: 'SUCCESSFUL' }),
      transactionOf(payoutOrder, { ...another, status: 'SUCCESSFUL' }),
    );
    expect(payment.status).toBe('REVIEW');
  });

  it('is the payment’s when it names it as its user', () => {
    const payment = quietPayment().hint('T2');
    payment.found('SUCCESSFUL', { externalId: undefined, userId: payoutOrder.id });
    expect(payment.status).toBe('REVIEW');
  });

  it.each(['SUCCESSFUL', 'PENDING', 'CREATED'] as const)(
    'opens an ended payment again when it is another of its own and money moves (%s)',
    (status) => {
      const payment = quietPayment().hint('T2').found(status);
      expect(payment.phase('review')).toMatchObject({
        held: true,
        why: `the provider has another transaction for this payment: T2 (${status})`,
      });
      expect(payment.notified).toEqual(['payment.succeeded', 'payment.review']);
      expect(payment.payment.others).toMatchObject([{ ...another, status }]);
      expect(payment.payment.sends.mayBeDouble).toBe(true);
    },
  );

  it('does not when no money moves with it', () => {
    expect(quietPayment().hint('T2').found('FAILED').status).toBe('SUCCESSFUL');
    for (const status of ['CREATED', 'EXPIRED', 'FAILED'] as const) {
      const link = taken(linkOrder).hint('T2').found(status);
      expect(link).toMatchObject({ status: 'CREATED', notified: [] });
    }
  });

  it('is a reason to check the outcome again when it moves money beside the payment’s own', () => {
    const payment = taken(directOrder).hint('T2').found('PENDING');
    expect(payment.phase('review').held).toBe(true);
    expect(payment.match('T1').found('SUCCESSFUL').phase('ended').checks).toHaveLength(3);
  });

  it('opens an ended payment again when the provider contradicts its outcome', () => {
    const payment = quietPayment().hint('T1', 'FAILED').found('FAILED');
    expect(payment.phase('review')).toMatchObject({
      held: true,
      why: 'the payment ended as SUCCESSFUL, and the provider now says that T1 is FAILED',
    });
    expect(payment.notified).toEqual(['payment.succeeded', 'payment.review']);
  });

  it('does not when the provider agrees, or shows an old status, and says so again three times', () => {
    for (const status of ['SUCCESSFUL', 'PENDING', 'CREATED'] as const) {
      const payment = quietPayment().hint('T1', 'FAILED');
      for (let answer = 0; answer < 4; answer++) payment.found(status);
      expect(payment).toMatchObject({ status: 'SUCCESSFUL', todo: { kind: 'end' } });
    }
  });

  it('opens a rejected payment again when the provider has taken it after all', () => {
    const payment = opened(payoutOrder).sent({ kind: 'rejected', message: 'no', statusCode: 400 });
    payment.hint('T1').found('SUCCESSFUL');
    expect(payment.phase('review').held).toBe(true);
  });

  it('is what an ambiguous payment was waiting for', () => {
    const search = () => ambiguous(payoutOrder).hint('T1').listed();
    const payment = search()
      .found('FAILED')
      .listed(transactionOf(payoutOrder, { status: 'FAILED' }));
    expect(payment.phase('ended')).toMatchObject({ status: 'FAILED', transId: 'T1' });
    expect(payment.notified).toEqual(['payment.failed']);
    expect(search().found('PENDING').phase('following').transId).toBe('T1');
  });

  it('brings an ambiguous payment to a held review when it isn’t what was ordered', () => {
    const payment = ambiguous(payoutOrder).hint('T1').listed().found('SUCCESSFUL', { amount: 1 });
    expect(payment.phase('review')).toMatchObject({ held: true, inquiry: { kind: 'searching' } });
    expect(payment.payment.others).toMatchObject([{ transId: transId('T1'), status: 'SUCCESSFUL' }]);
  });

  it('is not what was ordered, though the answer leaves out what was shown of it', () => {
    const payment = ambiguous(linkOrder).hint('T1').listing(SILENT).found('FAILED', { amount: 1 });
    while (payment.todo.kind !== 'askStatus') {
      if (payment.todo.kind === 'wait') payment.at(payment.todo.until ?? 0);
      else payment.listing(SILENT);
    }
    payment.answered({
      kind: 'found',
      transaction: { transId: transId('T1'), status: 'SUCCESSFUL', userId: 'col_1' },
    });
    expect(payment.phase('review').why).toContain('is of 1 XAF');
  });

  it('is looked for in the list when the provider never says whose it is', () => {
    const payment = paid(payoutOrder).hint('T2');
    const unsaid = { transId: transId('T2'), status: 'SUCCESSFUL' } as const;
    while (payment.todo.kind !== 'lookUp') {
      if (payment.todo.kind === 'wait') payment.at(payment.todo.until ?? 0);
      else payment.answered({ kind: 'found', transaction: unsaid });
    }
    payment.listed(transactionOf(payoutOrder, { status: 'SUCCESSFUL' }), unsaid);
    expect(payment.phase('review').why).toContain('T2 (SUCCESSFUL)');
  });

  it('is an ambiguous link’s only when somebody pays it', () => {
    const search = () => ambiguous(linkOrder).hint('T1').listing(SILENT);
    expect(search().found('CREATED').payment).toMatchObject({
      phase: { kind: 'searching' },
      others: [{ transId: 'T1', status: 'CREATED' }],
    });
    expect(search().found('SUCCESSFUL').phase('ended')).toMatchObject({ transId: 'T1' });
  });

  it('does not end a review that only a person can end', () => {
    const payment = backoff(payoutOrder).hint('T1').found('SUCCESSFUL');
    expect(payment.phase('review')).toMatchObject({ held: true });
    const contradicted = quietPayment().hint('T1', 'FAILED').found('FAILED').hint('T1');
    expect(contradicted.todo).toEqual({ kind: 'wait', summary: 'Until something happens' });
  });

  it('does not end such a review when it was reported before', () => {
    const payment = quietPayment().hint('T2').hint('T1', 'FAILED').found('SUCCESSFUL');
    expect(payment.asks('askStatus').transId).toBe('T1');
    expect(payment.found('SUCCESSFUL').phase('review')).toMatchObject({ number: 1, held: true });
  });

  it('is judged by its own status even when the payment has been matched with another', () => {
    const payment = backoff(payoutOrder).match('T1').found('SUCCESSFUL');
    payment.listed(transactionOf(payoutOrder, { status: 'SUCCESSFUL' }));
    expect(payment.hint('T2').found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });
});
