import { z } from 'zod';
import type { RequestEvent } from '../payments/machine/events.js';
import type { Todo } from '../payments/machine/plan.js';
import type { Reply } from '../payments/machine/replies.js';
import { stateSchemas } from '../payments/machine/state-schema.js';
import type { Timeline } from '../payments/views/timeline-entry.js';
import type { InitiationOutcome } from '../payments/words/outcome.js';
import type { TransId } from '../payments/words/payment-id.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import { toJson } from './versioned-json.js';

/** The sealed parts of rows. */

const { state, timeline, outcome } = stateSchemas();

/** What a payment's row of `states` seals. */
export interface Kept {
  readonly state: PaymentState;
  readonly timeline: Timeline;
  /** What the latest turn has said is next; none has said it of a payment that is as it was claimed. */
  readonly todo?: Todo | undefined;
}

/** Reports whether a row would seal the same: each step of the machine makes another state, also of nothing. */
export function isSame(one: Kept, other: Kept): boolean {
  return toJson(one) === toJson(other);
}

/** A message to a payment: a request, or a notification of the provider's. The id of its row is its number. */
export type Message =
  | { readonly kind: 'hint'; readonly transId?: string | undefined; readonly status?: string | undefined }
  | { readonly kind: 'looked'; readonly transId: TransId }
  | WithoutNumber<RequestEvent>;

type WithoutNumber<Event> = Event extends RequestEvent ? Omit<Event, 'request'> : never;

/** What the book itself has written is believed: only its outer shape is checked. */
const believed = <T>() => z.custom<T>((value) => typeof value === 'object' && value !== null);

export const kept = z.looseObject({ state, timeline, todo: z.optional(believed<Todo>()) });
export const sentOutcome = z.looseObject({ outcome });
export const message = z.looseObject({ message: believed<Message>() });
export const reply = z.looseObject({ reply: believed<Reply>() });

export type SentOutcome = { readonly outcome: InitiationOutcome };
