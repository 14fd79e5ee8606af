import { randomToken } from '../http/browser.js';
import type { Html } from '../http/html.js';
import type { Scope } from '../settings/merchants.js';
import type { Draft } from './draft.js';

/** A message that a page shows once, after a redirect. */
export interface Notice {
  readonly kind: 'done' | 'refused' | 'unknown';
  readonly text: string;
  /** HTML to follow the text. */
  readonly more?: Html | undefined;
}

/** Somebody who is signed in: an operator, or a person who approves a merchant's payouts. */
export interface Session {
  /** The person whose key it is: decisions and approvals are recorded under this name. */
  readonly person: string;
  /** The key's owner: the merchant, or the operator. */
  readonly owner: string;
  readonly scopes: readonly Scope[];
  /** The key itself, with which the API is called. It is kept in memory alone. */
  readonly key: string;
  /** The token that every form of the session carries, and no other site can know. */
  readonly csrf: string;
  /** Decisions that are being made, by their ids. */
  readonly drafts: Map<string, Draft>;
  /** What was done by forms that are to be done once, by their contents. */
  readonly carriedOut: Map<string, Promise<Notice>>;
  /** Notices that wait for their pages, by the pages' names. */
  readonly notices: Map<string, Notice>;
}

export function newSession(who: Pick<Session, 'person' | 'owner' | 'scopes' | 'key'>): Session {
  return { ...who, csrf: randomToken(), drafts: new Map(), carriedOut: new Map(), notices: new Map() };
}

/** Largest number of notices that wait, and of what was carried out. Beyond it, the oldest is forgotten. */
const MAX_NOTICES = 20;

/** Leaves a notice for the page with this name. */
export function leaveNotice({ notices }: Session, name: string, notice: Notice): void {
  putLast(notices, name, notice);
}

function putLast<T>(kept: Map<string, T>, key: string, value: T): void {
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > MAX_NOTICES && oldest !== undefined) kept.delete(oldest);
}

/** Does something once, however often its form is sent. It may be tried again unless it was done. */
export async function carryOutOnce({ carriedOut }: Session, key: string, act: () => Promise<Notice>): Promise<Notice> {
  const acting = carriedOut.get(key) ?? act();
  putLast(carriedOut, key, acting);
  let notice: Notice | undefined;
  try {
    notice = await acting;
    return notice;
  } finally {
    if (notice?.kind !== 'done') carriedOut.delete(key);
  }
}

/** Takes the notice that was left for the page with this name. */
export function takeNotice({ notices }: Session, name: string): Notice | undefined {
  const notice = notices.get(name);
  notices.delete(name);
  return notice;
}
