import type { Clock } from '../clock.js';
import type { Entry } from '../entry.js';
import { keyedRandom } from '../keyed-random.js';
import {
  type ContentFault,
  type FaultKind,
  type FaultRequest,
  type FaultRule,
  faultRuleSchema,
  isResponseFault,
  isWebhookFault,
  type ResponseFault,
  type Target,
  targetsOf,
  type WebhookFault,
} from './fault-rule.js';

/** A request or notification that a fault may apply to. */
export interface InjectionPoint {
  readonly target: Target;
  readonly externalId?: string | undefined;
  readonly transId?: string | undefined;
  readonly userId?: string | undefined;
}

/** The injection point of a request or notification about a transaction. */
export const injectionPoint = (target: Target, { externalId, transId, userId }: Entry): InjectionPoint => ({
  target,
  externalId,
  transId,
  userId,
});

interface ActiveRule {
  readonly id: number;
  readonly rule: FaultRule;
  readonly since: number;
  hits: number;
  /** The number of matches for each subject, part of the key by which a rate is drawn. */
  readonly matches: Map<string, number>;
}

/** An active rule, for display. */
export interface FaultView {
  readonly id: number;
  readonly rule: FaultRule;
  readonly hits: number;
}

/** Maximum number of subjects for which a rule counts matches; the oldest are dropped first. */
const MAX_SUBJECTS = 200_000;

/**
 * Decides which faults apply. A rate is drawn by seed, fault, endpoint, externalId (else transId, else userId) and
 * that subject's number of matches, so the faults are the same however requests interleave.
 */
export class FaultInjector {
  readonly #clock: Clock;
  readonly #seed: string | number;
  #active: ActiveRule[] = [];
  #added = 0;
  /** Faults applied, counted by kind, also those of rules that have ended. */
  readonly totals = new Map<FaultKind, number>();

  constructor({ clock, seed }: { clock: Clock; seed: string | number }) {
    this.#clock = clock;
    this.#seed = seed;
  }

  /** Activates a rule. @throws ZodError when it is invalid */
  add(request: FaultRequest): FaultView {
    const rule = faultRuleSchema.parse(request);
    const active = { id: ++this.#added, rule, since: this.#clock.now(), hits: 0, matches: new Map() };
    this.#active.push(active);
    return active;
  }

  /** The active rules, oldest first. */
  list(): FaultView[] {
    this.#active = this.#active.filter((active) => !this.#isSpent(active));
    return this.#active.map(({ id, rule, hits }) => ({ id, rule, hits }));
  }

  /** Ends a rule. Returns `false` when it isn't active. */
  remove(id: number): boolean {
    const before = this.#active.length;
    this.#active = this.#active.filter((active) => active.id !== id);
    return this.#active.length < before;
  }

  clear(): void {
    this.#active = [];
  }

  /** The fault that replaces or delays a response: the first that applies. */
  responseFault(point: InjectionPoint): ResponseFault | undefined {
    return this.#apply(point, isResponseFault, 1)[0];
  }

  /** The faults of one kind that change the content of a response. */
  contentFaults<Kind extends ContentFault['fault']>(
    point: InjectionPoint,
    fault: Kind,
  ): Extract<ContentFault, { fault: Kind }>[] {
    return this.#apply(point, (rule): rule is Extract<ContentFault, { fault: Kind }> => rule.fault === fault);
  }

  /** The faults of a notification. */
  webhookFaults(point: InjectionPoint): WebhookFault[] {
    return this.#apply(point, isWebhookFault);
  }

  /** Counts a fault that was applied. */
  record(fault: FaultKind, entry?: Entry): void {
    this.totals.set(fault, (this.totals.get(fault) ?? 0) + 1);
    entry?.faults.set(fault, (entry.faults.get(fault) ?? 0) + 1);
  }

  #apply<Rule extends FaultRule>(
    point: InjectionPoint,
    isOfKind: (rule: FaultRule) => rule is Rule,
    max = Number.POSITIVE_INFINITY,
  ) {
    const applied: Rule[] = [];
    for (const active of this.#active) {
      const { rule } = active;
      if (!isOfKind(rule) || !matches(rule, point) || this.#isSpent(active)) continue;
      // Drawn even when the maximum is reached, so that rules don't shift each other's draws.
      if (!this.#draw(active, point) || applied.length >= max) continue;
      active.hits++;
      applied.push(rule);
    }
    return applied;
  }

  #draw({ rule, matches }: ActiveRule, { target, externalId, transId, userId }: InjectionPoint): boolean {
    if (rule.rate === undefined) return true;
    const subject = externalId ?? transId ?? userId ?? '';
    const key = `${target} ${subject}`;
    const nth = matches.get(key) ?? 0;
    matches.set(key, nth + 1);
    if (matches.size > MAX_SUBJECTS) matches.delete(matches.keys().next().value ?? key);
    const random = keyedRandom(rule.seed ?? this.#seed);
    return random.fraction('fault', rule.fault, target, subject, nth) < rule.rate;
  }

  #isSpent({ rule, since, hits }: ActiveRule): boolean {
    const { count, rate, forMs } = rule;
    if (forMs !== undefined && this.#clock.now() >= since + forMs) return true;
    const maxHits = count ?? (rate === undefined && forMs === undefined ? 1 : Number.POSITIVE_INFINITY);
    return hits >= maxHits;
  }
}

function matches(rule: FaultRule, point: InjectionPoint): boolean {
  if (!targetsOf(rule.fault).includes(point.target)) return false;
  if (rule.endpoint !== undefined && rule.endpoint !== point.target) return false;
  if (rule.externalId !== undefined && rule.externalId !== point.externalId) return false;
  if (rule.userId !== undefined && rule.userId !== point.userId) return false;
  return rule.transId === undefined || rule.transId === point.transId;
}
