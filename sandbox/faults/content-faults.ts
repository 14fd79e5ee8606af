import type { WireTransaction } from '../../src/provider/schemas.js';
import type { Clock } from '../clock.js';
import {
  type EndpointName,
  type ResponseView,
  type ShownTransaction,
  unknownTransaction,
} from '../endpoints/endpoint.js';
import { dateOf, type Entry, type Status, wireTransaction } from '../entry.js';
import { type FaultInjector, type InjectionPoint, injectionPoint } from './fault-injector.js';
import type { FaultKind, OmittableField } from './fault-rule.js';

/** A fault that was applied to a response. */
export interface AppliedFault {
  readonly fault: FaultKind;
  /** The transaction that it changed; the one that the response is about when left out. */
  readonly entry?: Entry | undefined;
}

/** Applies the faults that make the content of responses wrong. */
export class ContentFaults {
  readonly #faults: FaultInjector;
  readonly #clock: Clock;
  /** The transactions that were in a list before: only these can go missing from one. */
  readonly #listed = new WeakSet<Entry>();

  constructor(faults: FaultInjector, clock: Clock) {
    this.#faults = faults;
    this.#clock = clock;
  }

  /** The view of one response. `applied` collects the faults as the view is used. */
  view(
    endpoint: EndpointName,
    point: InjectionPoint,
  ): { readonly view: ResponseView; readonly applied: AppliedFault[] } {
    const applied: AppliedFault[] = [];
    let skewMs = 0;
    for (const skew of this.#faults.contentFaults(point, 'clockSkew')) {
      skewMs += skew.skewMs;
      applied.push({ fault: skew.fault });
    }
    const show = (entry: Entry) => {
      const as = endpoint === 'payment-status' ? this.#pastStatus(entry, applied) : undefined;
      return this.#distort(wireTransaction(entry, { skewMs, as }), endpoint, entry, applied);
    };
    const view = {
      show,
      showAll: (entries: readonly Entry[]) => this.#omit(entries, point, applied).map(show),
      date: (timeMs: number) => dateOf(timeMs + skewMs),
      listedFrom: (createdAt: number) => {
        const [lag] = this.#faults.contentFaults(point, 'listLag');
        if (lag === undefined) return createdAt;
        applied.push({ fault: lag.fault });
        return createdAt + lag.delayMs;
      },
    };
    return { view, applied };
  }

  /** An earlier status to show instead of the current one, if a fault applies. */
  #pastStatus(entry: Entry, applied: AppliedFault[]): Status | undefined {
    const point = injectionPoint('payment-status', entry);
    const [lag] = this.#faults.contentFaults(point, 'statusLag');
    if (lag !== undefined) {
      applied.push({ fault: lag.fault, entry });
      const then = this.#clock.now() - lag.delayMs;
      const past = entry.history.findLast(({ at }) => at <= then);
      if (past === undefined) throw unknownTransaction();
      return past.status;
    }
    // A transaction that still has its first status doesn't use up the fault.
    const before = entry.history.at(-2);
    const [regression] = before === undefined ? [] : this.#faults.contentFaults(point, 'statusRegression');
    if (regression === undefined) return undefined;
    applied.push({ fault: regression.fault, entry });
    return before?.status;
  }

  /** Omits fields and replaces the status with an undocumented one. */
  #distort(
    transaction: WireTransaction,
    endpoint: EndpointName,
    entry: Entry,
    applied: AppliedFault[],
  ): ShownTransaction {
    const point = injectionPoint(endpoint, entry);
    const missing = new Set<OmittableField>();
    for (const { fault, fields } of this.#faults.contentFaults(point, 'missingFields')) {
      for (const field of fields) missing.add(field);
      applied.push({ fault, entry });
    }
    const [unknown] = this.#faults.contentFaults(point, 'unknownStatus');
    if (unknown !== undefined) applied.push({ fault: unknown.fault, entry });
    const shown = { ...transaction, status: unknown?.status ?? transaction.status };
    for (const field of missing) delete shown[field];
    return shown;
  }

  /** Omits transactions from a list, keeping its order. */
  #omit(entries: readonly Entry[], point: InjectionPoint, applied: AppliedFault[]): readonly Entry[] {
    const kept = entries.filter((entry) => {
      // A transaction that no list contained yet doesn't use up the fault.
      if (!this.#listed.has(entry)) return true;
      const [flap] = this.#faults.contentFaults(injectionPoint(point.target, entry), 'listFlap');
      if (flap !== undefined) applied.push({ fault: flap.fault, entry });
      return flap === undefined;
    });
    const page = this.#firstPage(kept, point, applied);
    for (const entry of page) this.#listed.add(entry);
    return page;
  }

  #firstPage(entries: readonly Entry[], point: InjectionPoint, applied: AppliedFault[]): readonly Entry[] {
    // An empty list doesn't use up the fault.
    if (entries.length === 0) return entries;
    const [page] = this.#faults.contentFaults(point, 'listPage');
    if (page === undefined) return entries;
    applied.push({ fault: page.fault });
    return entries.slice(0, page.size);
  }
}
