import { randomToken } from '../http/browser.js';
import type { Html } from '../http/html.js';
import type { Draft } from './draft.js';

/** A message that a page shows once, after a redirect. */
export interface Notice {
  readonly kind: 'done' | 'refused' | 'unknown';
  readonly text: string;
  /** HTML to follow the text. */
  readonly more?: Html | undefined;
}

/** An operator who is signed in. */
export interface Session {
  /** The person whose key it is, under whose name decisions are recorded. */
  readonly name: string;
  /** The key itself, with which the API is called. It is kept in memory alone. */
  readonly key: string;
  /** The token that every form of the session carries, and no other site can know. */
  readonly csrf: string;
  /** Decisions that are being made, by their ids. */
  readonly drafts: Map<string, Draft>;
  /** Notices that wait for their pages, by the pages' names. */
  readonly notices: Map<string, Notice>;
}

export function newSession(name: string, key: string): Session {
  return { name, key, csrf: randomToken(), drafts: new Map(), notices: new Map() };
}

/** Largest number of notices that wait. Beyond it, the oldest is forgotten. */
const MAX_NOTICES = 20;

/** Leaves a notice for the page with this name. */
export function leaveNotice({ notices }: Session, name: string, notice: Notice): void {
  notices.delete(name);
  notices.set(name, notice);
  const [oldest] = notices.keys();
  if (notices.size > MAX_NOTICES && oldest !== undefined) notices.delete(oldest);
}

/** Takes the notice that was left for the page with this name. */
export function takeNotice({ notices }: Session, name: string): Notice | undefined {
  const notice = notices.get(name);
  notices.delete(name);
  return notice;
}
