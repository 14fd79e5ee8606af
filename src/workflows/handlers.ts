import type { UpdateDefinition } from '@temporalio/common';
import {
  ApplicationFailure,
  defineUpdate,
  log,
  type QueryDefinition,
  type SignalDefinition,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { ENDED_RUN } from './messages.js';
import type { Read, Reader } from './schemas.js';

/*
 * Every message that a workflow takes, and every input that it begins with, comes through here: whoever reaches
 * Temporal can send anything under any name. Unknown messages change nothing, and never fail a workflow task, which
 * would be tried again for ever.
 */

/** The type of the ApplicationFailure that refuses an unknown message or input. */
const UNREADABLE = 'Unreadable';

/** Events of history after which a new run takes over, well below the 2,000 that a run may have. */
const HISTORY_LIMIT = 1_500;

/** Takes a signal. One that can't be read is dropped, and logged: nobody waits for an answer. */
export function onSignal<Value>(
  definition: SignalDefinition<[Value]>,
  read: Reader<Value>,
  handle: (value: Value) => void,
): void {
  setHandler(definition, (given: unknown) => {
    const signal = read(given, definition.name);
    if (signal.kind === 'read') handle(signal.value);
    else log.warn("a signal was dropped that can't be read", { signal: definition.name, problem: signal.problem });
  });
}

/** The argument of an update, if it has one. */
export type Argument<Args extends readonly unknown[]> = Args extends readonly [infer Value] ? Value : undefined;

/** Takes an update. One that can't be read is refused before it is accepted. */
export function onUpdate<Result, Args extends [] | [unknown]>(
  { name }: UpdateDefinition<Result, Args>,
  read: Reader<Argument<Args>>,
  handle: (value: Argument<Args>) => Result | Promise<Result>,
  validate: (value: Argument<Args>) => void = () => undefined,
): void {
  // After a reset, updates come again that were accepted before, and no validator sees them.
  setHandler<Result, [unknown], UpdateDefinition<Result, [unknown]>>(
    defineUpdate(name),
    (given) => handle(readOrRefuse(read(given, name))),
    { validator: (given) => validate(readOrRefuse(read(given, name))) },
  );
}

/** Answers a query. It takes no argument, but that it is for a run that has ended. */
export function onQuery<Result>(
  definition: QueryDefinition<Result, [run?: typeof ENDED_RUN]>,
  answer: () => Result,
): void {
  setHandler(definition, (run?: unknown) => {
    if (run === undefined || run === ENDED_RUN) return answer();
    throw unreadable(`${definition.name} takes no argument but "${ENDED_RUN}"`);
  });
}

/** @throws what {@link wrongInput} returns */
export function readInput<Input>(read: Reader<Input>, given: unknown): Input {
  const input = read(given, 'input');
  if (input.kind === 'read') return input.value;
  throw wrongInput(input.problem);
}

/**
 * The error for an input that Sanaga doesn't start a workflow with. A first run ends by it, before it has done
 * anything. In a run that goes on with another's work, the workflow task fails: what that run has left is nowhere else,
 * and waits for a worker that can read it.
 */
export function wrongInput(problem: string): Error {
  if (isContinued()) return new Error(`what the run before has left can't be read: ${problem}`);
  log.warn("a workflow was started by hand with an input that it can't take, and ends", { problem });
  return unreadable(problem);
}

/** Reports whether the history is so long that a new run should take over. */
export function isHistoryLong(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= HISTORY_LIMIT || continueAsNewSuggested;
}

/** Reports whether a run goes on with another's work. */
export function isContinued(): boolean {
  return workflowInfo().continuedFromExecutionRunId !== undefined;
}

function readOrRefuse<T>(read: Read<T>): T {
  if (read.kind === 'read') return read.value;
  throw unreadable(read.problem);
}

function unreadable(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, UNREADABLE);
}
