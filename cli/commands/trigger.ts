import { type Command, Option } from 'commander';
import type { CreatedPayment, Payment, PaymentStatus, Sanaga } from '../../client/index.js';
import { amountOf, describePayment, kindOf, note, print, printJson, statusOf } from '../output.js';
import { EXIT, UsageError, untilDone } from '../run.js';
import { clientFor, findStart, findTarget, type TargetOptions, withTarget } from '../target.js';
import { readAmount } from './create.js';

interface TriggerOptions extends TargetOptions {
  readonly amount: number;
  readonly sandbox?: string;
  readonly externalId?: string;
}

/** The provider's side of a payment: actions in the sandbox. */
interface Setup {
  readonly sanaga: Sanaga;
  /** Plays the payer at the checkout page. */
  pay(payment: Payment, phone: string): Promise<void>;
  decline(payment: Payment): Promise<void>;
  /** Has the sandbox carry out the next payout, and lose its answer. */
  loseNextAnswer(): Promise<void>;
}

interface Scenario {
  readonly summary: string;
  readonly expected: PaymentStatus;
  /** `true` when the payment ends with an outcome; otherwise, it ends with the expected status. */
  readonly final: boolean;
  create(setup: Setup, order: { readonly amount: number; readonly externalId?: string }): Promise<CreatedPayment>;
  act?(payment: Payment, setup: Setup): Promise<unknown>;
}

/** The sandbox's test numbers and addresses: see docs/sandbox.md. Nobody can have an address at example.com. */
const PAYS = '677000000';
const FAILS = '677000100';
const RECEIVES = 'always.paid@example.com';
const REFUSES = 'never.paid@example.com';

const link: Scenario['create'] = ({ sanaga }, order) => sanaga.collections.create({ method: 'link', ...order });
const direct =
  (phone: string): Scenario['create'] =>
  ({ sanaga }, order) =>
    sanaga.collections.create({ method: 'direct', phone, ...order });
const payout =
  (email: string): Scenario['create'] =>
  ({ sanaga }, order) =>
    sanaga.payouts.create({ medium: 'platform', email, ...order });

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'link-paid': {
    summary: 'a payer opens a link and pays',
    expected: 'SUCCESSFUL',
    final: true,
    create: link,
    act: (payment, { pay }) => pay(payment, PAYS),
  },
  'link-declined': {
    summary: 'a payer opens a link and declines: FAILED, but not final, since they can try again',
    expected: 'FAILED',
    final: false,
    create: link,
    act: (payment, { decline }) => decline(payment),
  },
  'link-retried': {
    summary: 'a payer declines, and pays after all',
    expected: 'SUCCESSFUL',
    final: true,
    create: link,
    async act(payment, { decline, pay }) {
      await decline(payment);
      await pay(payment, PAYS);
    },
  },
  'link-expired': {
    summary: 'you end a link that nobody has paid',
    expected: 'EXPIRED',
    final: true,
    create: link,
    act: ({ id }, { sanaga }) => sanaga.collections.expire(id),
  },
  'direct-paid': {
    summary: 'a payer agrees on their phone',
    expected: 'SUCCESSFUL',
    final: true,
    create: direct(PAYS),
  },
  'direct-failed': {
    summary: 'a payer refuses on their phone',
    expected: 'FAILED',
    final: true,
    create: direct(FAILS),
  },
  'payout-paid': {
    summary: 'a payout arrives',
    expected: 'SUCCESSFUL',
    final: true,
    create: payout(RECEIVES),
  },
  'payout-failed': { summary: 'a payout fails', expected: 'FAILED', final: true, create: payout(REFUSES) },
  'payout-lost-answer': {
    summary: 'a payout is carried out, but the answer is lost: Sanaga finds it, and sends nothing twice',
    expected: 'SUCCESSFUL',
    final: true,
    async create(setup, order) {
      await setup.loseNextAnswer();
      return await payout(RECEIVES)(setup, order);
    },
  },
};

/** Time limit for the outcome, in ms: Sanaga looks for a lost answer at growing intervals. */
const OUTCOME_LIMIT_MS = 120_000;

/** The command `trigger`: scenarios, run with the sandbox. */
export function addTriggerCommand(program: Command): void {
  const names = Object.keys(SCENARIOS);
  const width = Math.max(...names.map(({ length }) => length));
  const listed = Object.entries(SCENARIOS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  const trigger = program
    .command('trigger')
    .summary("run a scenario with the provider's sandbox: a paid link, a failed payout…")
    .description(
      "Creates a payment and has the provider's sandbox do the rest, so that you can see your own system react. " +
        'It works with "sanaga start", and never with a real provider.',
    );
  trigger.addArgument(trigger.createArgument('<scenario>', 'see below').choices(names));
  withTarget(trigger)
    .addOption(new Option('--amount <amount>', 'in XAF').argParser(readAmount).default(5_000, '5000'))
    .option('--external-id <id>', 'your own identifier of the payment')
    .option('--sandbox <address>', 'the sandbox\'s address (default: that of the running "sanaga start")')
    .addHelpText(
      'after',
      `
Scenarios:
${listed.join('\n')}

Examples:
  sanaga trigger link-paid
  sanaga trigger payout-failed --amount 2500 --external-id wages-77

Exit code: 0 when the payment ended as the scenario says, otherwise 1.`,
    )
    .action((name: string, options: TriggerOptions) =>
      untilDone(async (stop) => {
        const scenario = SCENARIOS[name];
        if (scenario === undefined) throw new UsageError(`there is no scenario ${name}`);
        return await runScenario(scenario, options, stop);
      }, options),
    );
}

async function runScenario(scenario: Scenario, options: TriggerOptions, signal: AbortSignal): Promise<number> {
  const { amount, externalId, json } = options;
  const setup = await setUp(options);
  const payment = await scenario.create(setup, { amount, ...(externalId !== undefined && { externalId }) });
  if (!json) note(`${payment.id}  ${amountOf(payment)}  ${kindOf(payment)}  ${statusOf(payment)}`);
  await scenario.act?.(payment, setup);
  const end = scenario.final
    ? await setup.sanaga.payments.waitForOutcome(payment.id, { timeoutMs: OUTCOME_LIMIT_MS, signal })
    : await untilStatus(setup.sanaga, payment.id, scenario.expected, signal);
  if (json) printJson(end);
  else print(describePayment(end));
  const isAsExpected = end.status === scenario.expected && end.final === scenario.final;
  if (!isAsExpected) note(`The scenario should have ended with ${scenario.expected}.`);
  return isAsExpected ? EXIT.ok : EXIT.failed;
}

async function untilStatus(sanaga: Sanaga, id: string, status: PaymentStatus, signal: AbortSignal): Promise<Payment> {
  const deadline = Date.now() + OUTCOME_LIMIT_MS;
  for (;;) {
    const payment = await sanaga.payments.retrieve(id, { wait: 1 }, { signal });
    if (payment.status === status || payment.final || Date.now() > deadline) return payment;
  }
}

/**
 * Uses only a sandbox: the running `start`'s, whose API has no other provider, or one that was named. Checks that a
 * link's payment is in it before anybody pays it.
 */
async function setUp(options: TriggerOptions): Promise<Setup> {
  const [sanaga, { url }, start] = await Promise.all([clientFor(options), findTarget(options), findStart()]);
  const isStart = start !== undefined && new URL(start.apiUrl).origin === new URL(url).origin;
  const sandboxUrl = (options.sandbox ?? (isStart ? start.sandboxUrl : undefined))?.replace(/(?<!\/)\/+$/, '');
  if (sandboxUrl === undefined) {
    throw new UsageError(
      `${url} is not the running "sanaga start", so its provider may be a real one. If it uses a sandbox, name that with --sandbox.`,
    );
  }
  const { atCheckout } = await import('../../stack/demo/payer.js');
  const checkout = async (payment: Payment, entry: Parameters<typeof atCheckout>[1]) => {
    const { link } = payment.link === undefined ? await sanaga.payments.retrieve(payment.id) : payment;
    if (link === undefined) throw new Error(`${payment.id} has no link yet: is the sandbox up?`);
    const ledger = await askSandbox(sandboxUrl, `ledger?externalId=${payment.id}`);
    if (!ledger.includes(`"${payment.id}"`)) throw new UsageError(`${sandboxUrl} is not the provider of ${url}`);
    await atCheckout(link, entry);
  };
  await askSandbox(sandboxUrl, 'ledger?limit=1');
  return {
    sanaga,
    pay: (payment, phone) => checkout(payment, { action: 'pay', phone }),
    decline: (payment) => checkout(payment, { action: 'decline' }),
    async loseNextAnswer() {
      await askSandbox(sandboxUrl, 'faults', { fault: 'resetAfterCommit', endpoint: 'payout' });
    },
  };
}

/** @throws UsageError when there is no sandbox at the address. */
async function askSandbox(sandboxUrl: string, path: string, body?: object): Promise<string> {
  const unusable = (why: string) => new UsageError(`there is no sandbox at ${sandboxUrl} (${why})`);
  const answer = await fetch(`${sandboxUrl}/_sandbox/${path}`, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
    signal: AbortSignal.timeout(10_000),
  }).catch((error: unknown) => {
    throw unusable(error instanceof Error ? error.message : String(error));
  });
  if (!answer.ok) throw unusable(`it answered ${answer.status}`);
  return await answer.text();
}
