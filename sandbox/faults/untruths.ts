import type { WireTransaction } from '../../src/provider/schemas.js';
import { unknownTransaction } from '../answer.js';
import type { Clock } from '../clock.js';
import type { AnswerShowing, EndpointName, ShownTransaction } from '../endpoints/endpoint.js';
import type { Entry } from '../entry.js';
import { dateOf, wireTransaction } from '../wire-transaction.js';
import type { FaultKind, OmittableField } from './fault-rule.js';
import { type Faults, type Site, siteOf } from './faults.js';

/** A fault that has made an answer untrue, and the transaction it did so about, if that is another than the answer's. */
export interface Struck {
  readonly fault: FaultKind;
  readonly entry?: Entry | undefined;
}

/** The faults that make answers untrue, as they strike one answer after another. */
export class Untruths {
  readonly #faults: Faults;
  readonly #clock: Clock;
  /** Shown in a list before, so that leaving it out is a step back. */
  readonly #listed = new WeakSet<Entry>();

  constructor(faults: Faults, clock: Clock) {
    this.#faults = faults;
    this.#clock = clock;
  }

  /** How one answer is to differ from the truth, and what has made it differ (filled as it is shown). */
  about(endpoint: EndpointName, site: Site): { readonly showing: AnswerShowing; readonly struck: Struck[] } {
    const struck: Struck[] = [];
    let skewMs = 0;
    for (const skew of this.#faults.onShowing(site, 'clockSkew')) {
      skewMs += skew.skewMs;
      struck.push(skew);
    }
    const show = (entry: Entry) => {
      const as = endpoint === 'payment-status' ? this.#pastStatus(entry, struck) : undefined;
      return this.#blur(wireTransaction(entry, { skewMs, as }), siteOf(endpoint, entry), entry, struck);
    };
    const showing = {
      show,
      showAll: (entries: readonly Entry[]) => this.#leaveOut(entries, site, struck).map(show),
      date: (timeMs: number) => dateOf(timeMs + skewMs),
      listedFrom: (createdAt: number) => {
        const [lag] = this.#faults.onShowing(site, 'listLag');
        if (lag === undefined) return createdAt;
        struck.push(lag);
        return createdAt + lag.delayMs;
      },
    };
    return { showing, struck };
  }

  /** A status that the entry had before, if it is to be shown; `undefined` for the present one. */
  #pastStatus(entry: Entry, struck: Struck[]): Entry['status'] | undefined {
    const site = siteOf('payment-status', entry);
    const [lag] = this.#faults.onShowing(site, 'statusLag');
    if (lag !== undefined) {
      struck.push({ fault: lag.fault, entry });
      const then = this.#clock.now() - lag.delayMs;
      const past = entry.history.findLast(({ at }) => at <= then);
      if (past === undefined) throw unknownTransaction();
      return past.status;
    }
    // A transaction that has had but one status can't go back, and keeps the fault for another time.
    const before = entry.history.at(-2);
    const [regression] = before === undefined ? [] : this.#faults.onShowing(site, 'statusRegression');
    if (regression === undefined) return undefined;
    struck.push({ fault: regression.fault, entry });
    return before?.status;
  }

  /** Leaves fields out, and puts a status in that nobody knows. */
  #blur(transaction: WireTransaction, site: Site, entry: Entry, struck: Struck[]): ShownTransaction {
    const missing = new Set<OmittableField>();
    for (const { fault, fields } of this.#faults.onShowing(site, 'missingFields')) {
      for (const field of fields) missing.add(field);
      struck.push({ fault, entry });
    }
    const [unknown] = this.#faults.onShowing(site, 'unknownStatus');
    if (unknown !== undefined) struck.push({ fault: unknown.fault, entry });
    const shown = { ...transaction, status: unknown?.status ?? transaction.status };
    for (const field of missing) delete shown[field];
    return shown;
  }

  /** What of a list is left, in its order, after faults have left transactions out. */
  #leaveOut(entries: readonly Entry[], site: Site, struck: Struck[]): readonly Entry[] {
    const kept = entries.filter((entry) => {
      // What was never shown can't be left out later, and keeps the fault for another time.
      if (!this.#listed.has(entry)) return true;
      const [flap] = this.#faults.onShowing(siteOf(site.target, entry), 'listFlap');
      if (flap !== undefined) struck.push({ fault: flap.fault, entry });
      return flap === undefined;
    });
    const page = this.#firstPage(kept, site, struck);
    for (const entry of page) this.#listed.add(entry);
    return page;
  }

  #firstPage(entries: readonly Entry[], site: Site, struck: Struck[]): readonly Entry[] {
    // A list without transactions has no second page, and keeps the fault for another time.
    if (entries.length === 0) return entries;
    const [page] = this.#faults.onShowing(site, 'listPage');
    if (page === undefined) return entries;
    struck.push(page);
    return entries.slice(0, page.size);
  }
}
