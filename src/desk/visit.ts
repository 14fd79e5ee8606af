import { type Html, html } from '../http/html.js';
import type { Problem } from '../schemas/problem.js';
import type { Answer, OperatorApi } from './api-client.js';
import type { Page } from './page.js';
import type { Session } from './session.js';

/** A request of a signed-in operator. The form of a POST has been checked to be one of ours. */
export interface Visit {
  readonly session: Session;
  readonly api: OperatorApi;
  /** The balance of the payout service that operators are warned below, in XAF. */
  readonly floatWarnBelow: number | undefined;
  /** A part of the path, by its name. */
  param(name: string): string;
  /** A parameter of the query; empty when it isn't there, or there more than once. */
  query(name: string): string;
  /** A field of the form; empty as above. */
  field(name: string): string;
}

/** Answers a request: with a page, a redirect, or a file to save under a name, whose end tells its type. */
export type PageReply =
  | (Page & { readonly status?: number })
  | { readonly to: string }
  | { readonly file: string; readonly name: string };

/** A problem of the API's that a page can do nothing about. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** Returns what was asked for. @throws {ProblemError} when the API has answered with a problem instead. */
export function requireValue<T>(answer: Answer<T>): T {
  if (answer.kind === 'problem') throw new ProblemError(answer.problem);
  return answer.value;
}

/** A part that a page can do without, or the reason why it is missing. */
export type Part<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'missing'; readonly why: string; readonly code?: string | undefined };

/** Waits for a part. @throws {ProblemError} when the key is no longer valid: no part can be shown then */
export async function partOf<T>(asked: Promise<Answer<T>>): Promise<Part<T>> {
  let answer: Answer<T>;
  try {
    answer = await asked;
  } catch {
    return { kind: 'missing', why: "The API doesn't answer." };
  }
  if (answer.kind === 'ok') return answer;
  if (answer.problem.status === 401) throw new ProblemError(answer.problem);
  const { detail, code } = answer.problem;
  return { kind: 'missing', why: detail, code };
}

/** Shows a part, or says that it isn't known. */
export function shown<T>(part: Part<T>, show: (value: T) => Html): Html {
  return part.kind === 'ok' ? show(part.value) : html`<p class="differs">Not known. ${part.why}</p>`;
}
