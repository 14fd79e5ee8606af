import { isDeepStrictEqual } from 'node:util';
import { requestedLink } from '../../src/engine/links.js';
import type { LinkRequest } from '../../src/payments/machine/beginning.js';
import type { PaymentEvent } from '../../src/payments/machine/events.js';
import { step } from '../../src/payments/machine/machine.js';
import type { PaymentOrder, PaymentTerms } from '../../src/payments/words/order.js';
import { openPayment, type PaymentState } from '../../src/payments/words/payment-state.js';
import type { PaymentInput, PaymentWorkflowType } from '../../src/workflows/messages.js';
import { ExpectedPayment, isAnswer, isMessage, type Message, type Timer } from './expected-payment.js';
import { type Act, actOf, byRequest, MONEY, plain, typeOf } from './workflow-commands.js';
import {
  activityJob,
  type Command,
  cancelJob,
  emptyJob,
  type Job,
  type Moment,
  milliseconds,
  patchJob,
  signalJob,
  startJob,
  timerJob,
  updateJob,
  type WorkflowRun,
  type WorkflowVm,
} from './workflow-vm.js';

/** The events of one payment from its order on, which arrives at `startedAt` (ms since the epoch). */
export interface Story {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  readonly startedAt: number;
  /** In order, without `begin`. Each answer follows the event that led to its question. */
  readonly events: readonly TimedEvent[];
}

export interface TimedEvent {
  readonly event: PaymentEvent;
  readonly now: number;
}

/** A story in which the workflow did something else than the machine says. */
export class StoryMismatch extends Error {
  override readonly name = 'StoryMismatch';
}

/** Choices that a story's events leave open. */
export interface Variation {
  /** `true` when the API makes the story's link: the workflow begins with the answer, once there is something to do. */
  readonly isMadeByApi: boolean;
  /** Reports whether the message that follows an answer arrives before it, while the question is still under way. */
  readonly isEarly: () => boolean;
  /** The activation of each run with which somebody asks for it to be cancelled, from 1; nothing is to come of it. */
  readonly cancelAt: number;
}

/**
 * Runs a story through the built workflow, and compares every command with the machine's step: the activities with
 * their limits and arguments, the timers, the search attributes, the replies, the end and the carried state, with the
 * timeline. Then replays each run, which must give the same commands in the same order.
 *
 * @returns how often a workflow was activated
 * @throws StoryMismatch
 */
export async function runStory(vm: WorkflowVm, story: Story, telling: Variation): Promise<number> {
  const run = new StoryRun(vm, story, telling);
  const events = story.events.filter(({ event }) => event.kind !== 'begin');
  await run.begin(events);
  for (let timed = events.shift(); timed !== undefined; timed = events.shift()) {
    // A message that came earlier than in the story may lead it elsewhere; then it ends here.
    if (!run.expected.expects(timed.event)) break;
    const ahead = run.ahead(timed, events);
    if (ahead === undefined) break;
    events.splice(0, ahead.length);
    await run.run(timed, ahead);
  }
  return await run.finish();
}

/** An activation of a run. */
interface Given {
  readonly jobs: readonly Job[];
  readonly moment: Moment;
  /** The patches whose markers it has left: a replay is told of them beforehand. */
  patches?: readonly string[];
}

/** A run of a workflow, with its input and its commands. */
interface ActiveRun {
  readonly run: WorkflowRun;
  readonly type: PaymentWorkflowType;
  readonly of: Parameters<WorkflowVm['run']>[2];
  /** ms since the epoch. Its first activation may be later. */
  readonly startedAt: number;
  readonly given: Given[];
  readonly acts: Act[];
  timer?: Timer | undefined;
  question?: { readonly seq: number; readonly isLocal: boolean } | undefined;
  delivery?: { readonly seq: number } | undefined;
}

/** Start of a run; times in ms since the epoch. */
interface Start {
  /** The payment's own, by default. */
  readonly type?: PaymentWorkflowType;
  readonly requested?: LinkRequest;
  readonly carried?: PaymentState;
  readonly startedAt: number;
  /** Time of its activation. */
  readonly now: number;
  /** Message in its inbox. */
  readonly message?: Message;
}

class StoryRun {
  readonly expected: ExpectedPayment;
  private active: ActiveRun | undefined;
  /** The link with which the first run is to begin, and until when it waits for something to do. */
  private dormant: { readonly requested: LinkRequest; readonly until: number } | undefined;
  private activations = 0;
  private readonly done: string[] = [];

  constructor(
    private readonly vm: WorkflowVm,
    private readonly story: Story,
    private readonly telling: Variation,
  ) {
    this.expected = new ExpectedPayment(openPayment(story.order, story.terms, story.startedAt));
  }

  /** Starts the payment's first run. If the API makes its link, the answer to that is taken out of the events. */
  async begin(events: TimedEvent[]): Promise<void> {
    const { order, terms, startedAt } = this.story;
    const [first] = events;
    if (!this.telling.isMadeByApi || order.kind !== 'link' || first?.event.kind !== 'sent') {
      return await this.start({ startedAt, now: startedAt });
    }
    events.shift();
    const { event, now } = first;
    const requested = { outcome: event.outcome, sentAt: startedAt, answeredAt: now };
    const { idleMs, ...beginning } = requestedLink(order, terms, requested);
    this.expected.beginAs(beginning, now);
    this.done.push(`${now - startedAt} ${event.kind} by the API`);
    if (idleMs !== undefined) this.dormant = { requested, until: now + idleMs };
    else await this.start({ requested, startedAt: now, now });
  }

  /**
   * The messages after an event that must have come in before its answer, or together with it: a question is asked in
   * the very activation in which it becomes due. `undefined` when the workflow can't come to hear of them in that
   * order.
   */
  ahead({ event, now }: TimedEvent, later: readonly TimedEvent[]): Message[] | undefined {
    const ahead: Message[] = [];
    let { payment, todo } = this.expected.after(event, now, this.active === undefined);
    for (const { event: next } of later) {
      if (!isMessage(next)) break;
      const isAsking = todo.kind !== 'wait' && todo.kind !== 'end' && todo.kind !== 'deliver';
      const mayBeEarly = ahead.length === 0 && isAnswer(event) && next.kind !== 'delivered';
      if (!isAsking && !(mayBeEarly && this.telling.isEarly())) break;
      if (event.kind === 'time' || this.active === undefined) return isAsking ? undefined : ahead;
      // The end of an activity is heard after all other messages of its activation.
      if (ahead.at(-1)?.kind === 'delivered') return isAsking ? undefined : ahead;
      // Whether it is taken at all is decided before the event has changed anything.
      if (this.expected.objects(next, now) !== undefined) return isAsking ? undefined : ahead;
      ahead.push(next);
      ({ payment, todo } = step(payment, next, now));
    }
    return ahead;
  }

  /** Runs one event, and the messages that come in while its question is under way. */
  async run({ event, now }: TimedEvent, ahead: readonly Message[]): Promise<void> {
    this.done.push([now - this.story.startedAt, event.kind, ...ahead.map(({ kind }) => kind)].join(' '));
    if (this.dormant !== undefined && !(await this.isAwake(event, now))) return;
    if (this.active === undefined) return await this.reopen(event, now);
    await this.passTime(event, now);
    if (event.kind === 'handOver') return await this.handOver(now);
    if (isMessage(event) && this.expected.objects(event, now) !== undefined) return await this.refuse(event, now);
    const messages = ahead.map((message) => this.messageJob(message));
    if (isAnswer(event) && messages.length > 0) await this.activate(messages, { now });
    const jobs = this.jobsOf(event);
    this.expected.take(event, now);
    for (const message of ahead) this.expected.take(message, now);
    this.expected.goOn(now, this.active?.timer);
    await this.activate(isAnswer(event) ? jobs : [...jobs, ...messages], { now });
  }

  /** Replays the last run. */
  async finish(): Promise<number> {
    if (this.active !== undefined) await this.replay(this.active);
    return this.activations;
  }

  /** A request that is refused before it is written down. */
  private async refuse(event: Message, now: number): Promise<void> {
    this.expected.expectRefusal(event, now);
    await this.activate([this.messageJob(event)], { now });
  }

  /**
   * Lets a run begin that waits for something to do, by the event itself unless its time has come before. Returns
   * whether the event is still to come.
   */
  private async isAwake(event: PaymentEvent, now: number): Promise<boolean> {
    const { dormant } = this;
    // Nobody takes over what hasn't begun.
    if (dormant === undefined || event.kind === 'handOver') return false;
    this.dormant = undefined;
    const { requested, until } = dormant;
    const begun = { requested, startedAt: requested.answeredAt };
    const isOverdue = until <= now && isMessage(event);
    if (isOverdue) await this.start({ ...begun, now: until });
    else await this.start({ ...begun, now, ...(isMessage(event) && { message: event }) });
    return isOverdue;
  }

  /** Reopens an ended payment for a message. */
  private async reopen(event: PaymentEvent, now: number): Promise<void> {
    if (!isMessage(event)) throw new Error(`an ended payment can't take ${event.kind}`);
    const type = 'reopenPayment';
    await this.start({ type, carried: this.expected.payment, startedAt: now, now, message: event });
  }

  /** Starts a run, which the message, if there is one, finds before it does anything. */
  private async start({ type, requested, carried, startedAt, now, message }: Start): Promise<void> {
    const { order, terms } = this.story;
    const input: PaymentInput = {
      v: 1,
      order,
      terms,
      fingerprint: 'f',
      requestId: 'r',
      requested,
      carried,
      timeline: carried && this.expected.timeline,
    };
    const name = type ?? typeOf(order);
    const of = { workflowId: order.id, isContinued: carried !== undefined && type === undefined };
    this.active = {
      run: await this.vm.run(name, startedAt, of),
      type: name,
      of,
      startedAt,
      given: [],
      acts: [],
    };
    this.expected.take({ kind: 'begin' }, now);
    if (message !== undefined) {
      if (this.expected.objects(message, now) === undefined) this.expected.take(message, now);
      else this.expected.expectRefusal(message, now);
    }
    this.expected.goOn(now, this.active?.timer);
    const jobs = message === undefined ? [] : [this.messageJob(message)];
    await this.activate([startJob(name, input, startedAt), ...jobs], { now });
  }

  private async handOver(now: number): Promise<void> {
    this.expected.take({ kind: 'time' }, now);
    this.expected.take({ kind: 'handOver' }, now);
    this.expected.expectHandOver();
    const { active } = this;
    await this.activate([emptyJob()], { now, isLong: true });
    if (active !== undefined) await this.replay(active);
    await this.start({ carried: this.expected.payment, startedAt: now, now });
  }

  /**
   * A timer that runs out on the way does so before anything else; while a question is under way nothing comes of it.
   */
  private async passTime(event: PaymentEvent, now: number): Promise<void> {
    const timer = this.active?.timer;
    if (timer === undefined || timer.isOver || timer.until > now || event.kind === 'time') return;
    timer.isOver = true;
    if (this.expected.todo.kind === 'wait') {
      this.expected.take({ kind: 'time' }, timer.until);
      this.expected.goOn(timer.until, this.active?.timer);
    }
    await this.activate([timerJob(timer.seq)], { now: timer.until });
  }

  private jobsOf(event: PaymentEvent): Job[] {
    const { active } = this;
    switch (event.kind) {
      case 'time':
        if (active?.timer === undefined || active.timer.isOver) return [emptyJob()];
        active.timer.isOver = true;
        return [timerJob(active.timer.seq)];
      case 'sent':
        return [this.answerJob(event.outcome)];
      case 'listed':
      case 'status':
      case 'expired':
        return [this.answerJob(event.answer)];
      case 'resetChecked':
        return [this.answerJob(event.mayBeReset)];
      case 'begin':
      case 'handOver':
        return [emptyJob()];
      default:
        return [this.messageJob(event)];
    }
  }

  private answerJob(answer: unknown): Job {
    const question = this.active?.question;
    return activityJob(question?.seq ?? -1, question?.isLocal ?? false, answer);
  }

  private messageJob(event: Message): Job {
    switch (event.kind) {
      case 'hint': {
        const { transId, status } = event;
        return signalJob('hint', { transId, status });
      }
      case 'hintWithoutTransaction':
        return signalJob('hint', { status: event.status });
      case 'delivered':
        return activityJob(this.active?.delivery?.seq ?? -1, false, event.outcome);
      case 'approve':
        return updateJob(String(event.request), 'approve', [{ by: event.by, keys: event.keys, digest: event.digest }]);
      case 'rejectPayout':
        return updateJob(String(event.request), 'reject', [{ by: event.by, why: event.why }]);
      case 'decide':
        return updateJob(String(event.request), 'resolve', [event.resolution]);
      case 'reject':
        return updateJob(String(event.request), 'rejectDecision', [event.rejection]);
      case 'resendNotification':
        return updateJob(String(event.request), 'resendNotification', [{ number: event.number, by: event.by }]);
      default:
        return updateJob(String(event.request), event.kind, event.by === undefined ? [] : [{ by: event.by }]);
    }
  }

  /** Activates the run, and compares its commands with the expected ones. */
  private async activate(given: readonly Job[], moment: Moment): Promise<void> {
    const { active } = this;
    if (active === undefined) throw new Error('no run is active');
    this.activations += 1;
    const isCancelled = active.given.length + 1 === this.telling.cancelAt;
    const jobs = isCancelled ? [...given, cancelJob()] : given;
    const activation: Given = { jobs, moment };
    active.given.push(activation);
    const commands = await this.attempt(active.run, jobs, moment);
    activation.patches = commands.flatMap(({ setPatchMarker }) => setPatchMarker?.patchId ?? []);
    commands.forEach((command, index) => {
      follow(active, command, moment.now, commands[index + 1]);
    });
    const acts = commands.flatMap(actOf);
    active.acts.push(...acts);
    this.compare(acts);
    if (acts.some(([name]) => name === 'end')) {
      this.active = undefined;
      await this.replay(active);
    }
  }

  private async attempt(run: WorkflowRun, jobs: readonly Job[], moment: Moment): Promise<Command[]> {
    try {
      return await run.activate(jobs, moment);
    } catch (error) {
      throw this.mismatch(error instanceof Error ? error.message : String(error));
    }
  }

  /**
   * Replies come when their handlers go on, after the loop's commands; a refusal takes a moment longer than an answer.
   * A timer is cancelled a moment after the request to cancel it.
   */
  private compare(acts: readonly Act[]): void {
    const isLate = (name: string) => name === 'cancelTimer';
    const [wanted, done] = [this.expected.acts(), acts].map((list) => [
      list.filter(([name]) => name !== 'reply' && !isLate(name)),
      list.filter(([name]) => isLate(name)).sort(),
      list.filter(([name]) => name === 'reply').sort(byRequest),
    ]);
    if (isDeepStrictEqual(plain(wanted), plain(done))) return;
    throw this.mismatch(`expected ${JSON.stringify(wanted)}, the workflow did ${JSON.stringify(done)}`);
  }

  private async replay({ run, type, of, startedAt, given, acts }: ActiveRun): Promise<void> {
    await run.dispose();
    const replayed = await this.vm.run(type, startedAt, of);
    const again: Act[] = [];
    for (const { jobs, moment, patches = [] } of given) {
      const known = [...patches.map(patchJob), ...jobs];
      const commands = await this.attempt(replayed, known, { ...moment, isReplaying: true });
      again.push(...commands.flatMap(actOf));
    }
    await replayed.dispose();
    if (isDeepStrictEqual(plain(again), plain(acts))) return;
    throw this.mismatch(`a replay did ${JSON.stringify(again)} where it had done ${JSON.stringify(acts)}`);
  }

  private mismatch(what: string): StoryMismatch {
    return new StoryMismatch(`${this.story.order.id}: ${this.done.join(', ')}: ${what}`);
  }
}

function isMoney(command: Command | undefined): boolean {
  return MONEY.includes(command?.scheduleActivity?.activityType ?? '');
}

/** Records the run's waits. */
function follow(active: ActiveRun, command: Command, now: number, next: Command | undefined): void {
  const { scheduleLocalActivity, scheduleActivity } = command;
  // One that is set for a request that moves money is no pause.
  const startTimer = isMoney(next) ? undefined : command.startTimer;
  if (scheduleLocalActivity) active.question = { seq: scheduleLocalActivity.seq ?? 0, isLocal: true };
  if (scheduleActivity?.activityType === 'notifyMerchant') {
    active.delivery = { seq: scheduleActivity.seq ?? 0 };
  } else if (scheduleActivity) {
    active.question = { seq: scheduleActivity.seq ?? 0, isLocal: false };
  }
  if (command.cancelTimer?.seq === active.timer?.seq) active.timer = undefined;
  if (startTimer) {
    const pause = milliseconds(startTimer.startToFireTimeout) ?? 0;
    active.timer = { until: now + pause, seq: startTimer.seq ?? 0, isOver: false };
  }
}
