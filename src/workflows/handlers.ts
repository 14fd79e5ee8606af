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
import { OF_ENDED } from './messages.js';
import { NotReadable, type Schema } from './schema.js';

/*
 * Every message that a workflow takes, and every input that it begins with, comes through here: whoever reaches
 * Temporal can send anything under any name. What isn't what Sanaga sends changes nothing, and never fails a workflow
 * task, which would be tried again for ever.
 */

/** The type of the ApplicationFailure that a message or an input is refused with that isn't what Sanaga sends. */
const UNREADABLE = 'Unreadable';

/** Takes a signal. One that can't be read is dropped, and logged: nobody waits for an answer. */
export function onSignal<Value>(
  definition: SignalDefinition<[Value]>,
  schema: Schema<Value>,
  handle: (value: Value) => void,
): void {
  setHandler(definition, (given: unknown) => {
    const read = tryToRead(schema, given, definition.name);
    if (read.kind === 'read') handle(read.value);
    else log.warn("a signal was dropped that can't be read", { signal: definition.name, problem: read.problem });
  });
}

/** What an update brings: nothing, or one thing. */
export type Argument<Args extends readonly unknown[]> = Args extends readonly [infer Value] ? Value : undefined;

/** Takes an update. One that can't be read is refused before it is accepted. */
export function onUpdate<Result, Args extends [] | [unknown]>(
  definition: UpdateDefinition<Result, Args>,
  schema: Schema<Argument<Args>>,
  handle: (value: Argument<Args>) => Result | Promise<Result>,
  validate: (value: Argument<Args>) => void = () => undefined,
): void {
  const read = (given: unknown) => readMessage(schema, given, definition.name);
  // After a reset, updates come again that were accepted before, and no validator sees them.
  setHandler<Result, [unknown], UpdateDefinition<Result, [unknown]>>(
    defineUpdate(definition.name),
    (given) => handle(read(given)),
    {
      validator: (given) => validate(read(given)),
    },
  );
}

/** Answers a query. It takes no argument, but that it is for a run that has ended. */
export function onQuery<Result>(
  definition: QueryDefinition<Result, [run?: typeof OF_ENDED]>,
  answer: () => Result,
): void {
  setHandler(definition, (run?: unknown) => {
    if (run === undefined || run === OF_ENDED) return answer();
    throw unreadable(`${definition.name} takes no argument but "${OF_ENDED}"`);
  });
}

/**
 * Reads the input of a workflow's first run.
 *
 * @throws {ApplicationFailure} so that the workflow fails at once, before it has done anything
 */
export function readInput<Input>(schema: Schema<Input>, given: unknown): Input {
  const read = tryToRead(schema, given, 'input');
  if (read.kind === 'read') return read.value;
  throw wrongInput(read.problem);
}

/** Ends a workflow that was started with what Sanaga doesn't start it with. */
export function wrongInput(problem: string): ApplicationFailure {
  log.warn("a workflow was started by hand with an input that it can't take, and ends", { problem });
  return unreadable(problem);
}

/**
 * Whether a run goes on with another's work. Its input is what that has left: a workflow that can't read it waits for a
 * worker that can, since money may be under way.
 */
export function isContinued(): boolean {
  return workflowInfo().continuedFromExecutionRunId !== undefined;
}

type Read<T> = { readonly kind: 'read'; readonly value: T } | { readonly kind: 'unreadable'; readonly problem: string };

/** Reads what somebody may have made by hand. */
export function tryToRead<T>(schema: Schema<T>, given: unknown, what: string): Read<T> {
  try {
    return { kind: 'read', value: schema(given, what) };
  } catch (error) {
    if (!(error instanceof NotReadable)) throw error;
    return { kind: 'unreadable', problem: error.message };
  }
}

function readMessage<T>(schema: Schema<T>, given: unknown, what: string): T {
  const read = tryToRead(schema, given, what);
  if (read.kind === 'read') return read.value;
  throw unreadable(read.problem);
}

function unreadable(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, UNREADABLE);
}
