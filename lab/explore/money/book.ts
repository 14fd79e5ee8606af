/*
 * What the book has of money: orders, and the room that they take of a collection and of a day.
 */

/** A key of the API, by its number. */
export type Key = number;

export type Phase =
  /** Nothing is under way: it is sent when all allows it. */
  | 'waiting'
  /** Its fence is written, and its request may leave. */
  | 'fenced'
  /** A request may have left, and nobody knows what came of it. */
  | 'doubt'
  /** So, too, and a person decides. */
  | 'review'
  | 'paid'
  /** It has ended without money. */
  | 'unsent';

export interface Order {
  readonly amount: number;
  readonly isRefund: boolean;
  readonly by: Key;
  /** What the merchant's file said when it was ordered, and the day. */
  readonly under: File;
  readonly on: number;
  readonly phase: Phase;
  readonly approvedBy?: Key | undefined;
  /** The transaction that it goes by. */
  readonly paidBy?: number | undefined;
  /** The days of its requests that have moved money, or may have. */
  readonly sentOn: readonly number[];
}

export interface Collection {
  readonly is: 'paid' | 'review' | 'failed';
  readonly collected: number;
}

/** What the merchant's file says now. */
export interface File {
  readonly isThere: boolean;
  /** What may leave on a day. */
  readonly limit: number;
  /** Orders above it take another person's approval. */
  readonly approveAbove: number;
  /** The keys' names, as they are written; undefined, if there is no such key. */
  readonly names: readonly (string | undefined)[];
}

export interface Book {
  readonly orders: readonly (Order | undefined)[];
  readonly collection: Collection;
  /** What has left on each day, or may have: changed with each order, in the same transaction. */
  readonly days: readonly number[];
  /** All names that keys have had, for good. */
  readonly people: readonly KeyName[];
}

/** A key, and a name that the file has had for it. */
export interface KeyName {
  readonly key: Key;
  readonly name: string;
}

export interface Ordered {
  readonly index: number;
  readonly amount: number;
  readonly key: Key;
  readonly isRefund: boolean;
}
