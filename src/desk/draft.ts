import { z } from 'zod';
import { randomToken } from '../http/browser.js';
import type { Objection } from '../payments/words/decision.js';
import { MAX_TRANS_ID_LENGTH } from '../payments/words/limits.js';
import { PLAIN_LINE } from '../text/visible-text.js';
import type { DecisionRequest } from './api-client.js';

/** The decisions, in the order in which pages show them. */
export const DECIDED = ['match', 'fail', 'resend'] as const;

/** The actions that can be drafted: a decision, or the rejection of one that waits for a second person. */
export const ACTIONS = [...DECIDED, 'reject'] as const;
export type Action = (typeof ACTIONS)[number];

/** The fields of the form, as they were typed. */
export interface DraftFields {
  readonly review: string;
  readonly why: string;
  readonly transId: string;
  /** Time when the form was shown, in ms since the epoch; empty when it isn't known. */
  readonly shownAt: string;
}

/** A decision that is being made: typed, then confirmed, and carried out once. */
export interface Draft {
  readonly id: string;
  readonly payment: string;
  readonly action: Action;
  readonly fields: DraftFields;
  /** The errors in the fields; with any, there is no decision yet. */
  readonly errors: FieldErrors;
  readonly decision?: DecisionRequest | undefined;
  /** Sanaga's last refusal, if a person may overrule it. */
  refusal?: Overrulable | undefined;
  /** Carrying it out: however often the form is sent, it is done once. */
  carriedOut?: Promise<string> | undefined;
}

/** A refusal that a person may overrule. */
export interface Overrulable {
  readonly why: string;
  /** The objections that the decision overrules then: this one, and those before it. */
  readonly force: readonly Objection[];
  /** For a match: the transaction's amount in XAF, when it differs from the order's. */
  readonly transactionAmount?: number | undefined;
}

/** Keeps the drafts of one session by their ids. */
interface DraftKeeper {
  readonly drafts: Map<string, Draft>;
}

export type FieldErrors = Readonly<Partial<Record<keyof DraftFields, string>>>;

/** Largest number of drafts of one session. Beyond it, the oldest is forgotten. */
const MAX_DRAFTS = 20;

const FIELDS = {
  review: z.string().regex(/^[1-9]\d{0,8}$/, 'The form has no valid number of a review: begin again from the payment.'),
  why: z
    .string()
    .min(1, 'Say why: the merchant can read it, and so can anybody who looks at the payment later.')
    // By the API's rule, which counts characters and not units of UTF-16: a text that it refuses stays in the form.
    .refine((why) => [...why].length <= 500, 'Say it in at most 500 characters.')
    .regex(PLAIN_LINE, 'Write it in one line, without control characters.'),
  transId: z
    .string()
    .min(1, "Enter the transaction's id, as the provider shows it.")
    .max(MAX_TRANS_ID_LENGTH, `A transaction's id has at most ${MAX_TRANS_ID_LENGTH} characters.`)
    .regex(/^[!-~]+$/, "A transaction's id has no spaces."),
};

/** Keeps what was typed, checked, until it is confirmed. */
export function keepDraft({ drafts }: DraftKeeper, payment: string, action: Action, typed: DraftFields): Draft {
  const fields = { ...typed, why: typed.why.trim(), transId: typed.transId.trim() };
  const errors = errorsOf(action, fields);
  const draft: Draft = {
    id: randomToken(),
    payment,
    action,
    fields,
    errors,
    ...(Object.keys(errors).length === 0 && { decision: toDecision(action, fields) }),
  };
  drafts.set(draft.id, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > MAX_DRAFTS && oldest !== undefined) drafts.delete(oldest);
  return draft;
}

/** A draft of this payment; `undefined` when the session has no such draft. */
export function findDraft({ drafts }: DraftKeeper, payment: string, id: string): Draft | undefined {
  const draft = drafts.get(id);
  return draft?.payment === payment ? draft : undefined;
}

function errorsOf(action: Action, fields: DraftFields): FieldErrors {
  const errors: Partial<Record<keyof DraftFields, string>> = {};
  for (const name of ['review', 'why', 'transId'] as const) {
    const [issue] = FIELDS[name].safeParse(fields[name]).error?.issues ?? [];
    if (issue !== undefined && (name !== 'transId' || action === 'match')) errors[name] = issue.message;
  }
  return errors;
}

function toDecision(action: Action, { review, why, transId }: DraftFields): DecisionRequest {
  return { action, review: Number(review), why, ...(action === 'match' && { transId }) };
}
