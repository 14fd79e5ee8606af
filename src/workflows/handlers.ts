import { ApplicationFailure, log } from '@temporalio/workflow';
import type { Reader } from './schemas.js';

/** The type of the ApplicationFailure that refuses an unknown input. */
const UNREADABLE = 'Unreadable';

/**
 * Reads the input of a workflow: whoever reaches Temporal can start one with anything.
 *
 * @throws ApplicationFailure that ends it before it has done anything
 */
export function readInput<Input>(read: Reader<Input>, given: unknown): Input {
  const input = read(given, 'input');
  if (input.kind === 'read') return input.value;
  log.warn("a workflow was started by hand with an input that it can't take, and ends", { problem: input.problem });
  throw ApplicationFailure.nonRetryable(input.problem, UNREADABLE);
}
