import type { Clock } from '../clock.js';
import type { Entry } from '../entry.js';
import { keyedRandom } from '../keyed-random.js';
import {
  type AnswerFault,
  type FaultKind,
  type FaultRequest,
  type FaultRule,
  faultRuleSchema,
  isAnswerFault,
  isWebhookFault,
  type ShowingFault,
  type Target,
  targetsOf,
  type WebhookFault,
} from './fault-rule.js';

/** One request or notification that a fault may strike. */
export interface Site {
  readonly target: Target;
  readonly externalId?: string | undefined;
  readonly transId?: string | undefined;
  readonly userId?: string | undefined;
}

/** A transaction's request or notification, as a fault may strike it. */
export const siteOf = (target: Target, { externalId, transId, userId }: Entry): Site => ({
  target,
  externalId,
  transId,
  userId,
});

/** A rule in force. */
interface Active {
  readonly id: number;
  readonly rule: FaultRule;
  readonly since: number;
  hits: number;
  /** How many matches there were for each subject: the draw of a rate is keyed by it. */
  readonly matches: Map<string, number>;
}

/** A rule as it is shown. */
export interface FaultView {
  readonly id: number;
  readonly rule: FaultRule;
  readonly hits: number;
}

/** Most subjects whose matches a rule counts; the oldest are forgotten first. */
const SUBJECTS_KEPT = 200_000;

/**
 * The faults that are to happen. A rate is drawn for seed, fault, endpoint, externalId (else transId, else userId)
 * and how many matches that one has had, so that the run of faults is the same however requests interleave.
 */
export class Faults {
  readonly #clock: Clock;
  readonly #seed: string | number;
  #active: Active[] = [];
  #added = 0;
  /** How often each kind has struck, rules that are gone included. */
  readonly totals = new Map<FaultKind, number>();

  constructor({ clock, seed }: { clock: Clock; seed: string | number }) {
    this.#clock = clock;
    this.#seed = seed;
  }

  /** Puts a rule in force. @throws ZodError when it isn't one */
  add(request: FaultRequest): FaultView {
    const rule = faultRuleSchema.parse(request);
    const active = { id: ++this.#added, rule, since: this.#clock.now(), hits: 0, matches: new Map() };
    this.#active.push(active);
    return active;
  }

  /** The rules in force, first to last. */
  list(): FaultView[] {
    this.#active = this.#active.filter((active) => !this.#isSpent(active));
    return this.#active.map(({ id, rule, hits }) => ({ id, rule, hits }));
  }

  /** Ends one rule; `false` when it isn't in force. */
  remove(id: number): boolean {
    const before = this.#active.length;
    this.#active = this.#active.filter((active) => active.id !== id);
    return this.#active.length < before;
  }

  clear(): void {
    this.#active = [];
  }

  /** What is to happen to a request's answer, if anything: the first rule that strikes. */
  onAnswer(site: Site): AnswerFault | undefined {
    return this.#strike(site, isAnswerFault, 1)[0];
  }

  /** What is to be untrue about a request's answer: every rule of this kind that strikes. */
  onShowing<Kind extends ShowingFault['fault']>(
    site: Site,
    fault: Kind,
  ): Extract<ShowingFault, { fault: Kind }>[] {
    return this.#strike(site, (rule): rule is Extract<ShowingFault, { fault: Kind }> => rule.fault === fault);
  }

  /** What is to happen to a notification: every rule that strikes. */
  onWebhook(site: Site): WebhookFault[] {
    return this.#strike(site, isWebhookFault);
  }

  /** Writes down that a fault has struck. */
  record(fault: FaultKind, entry?: Entry): void {
    this.totals.set(fault, (this.totals.get(fault) ?? 0) + 1);
    entry?.faults.set(fault, (entry.faults.get(fault) ?? 0) + 1);
  }

  #strike<Rule extends FaultRule>(
    site: Site,
    is: (rule: FaultRule) => rule is Rule,
    most = Number.POSITIVE_INFINITY,
  ) {
    const striking: Rule[] = [];
    for (const active of this.#active) {
      const { rule } = active;
      if (!is(rule) || !matches(rule, site) || this.#isSpent(active)) continue;
      // Drawn even when another rule has struck already, so that rules don't shift each other's draws.
      if (!this.#draw(active, site) || striking.length >= most) continue;
      active.hits++;
      striking.push(rule);
    }
    return striking;
  }

  #draw({ rule, matches }: Active, { target, externalId, transId, userId }: Site): boolean {
    if (rule.rate === undefined) return true;
    const subject = externalId ?? transId ?? userId ?? '';
    const key = `${target} ${subject}`;
    const nth = matches.get(key) ?? 0;
    matches.set(key, nth + 1);
    if (matches.size > SUBJECTS_KEPT) matches.delete(matches.keys().next().value ?? key);
    const random = keyedRandom(rule.seed ?? this.#seed);
    return random.fraction('fault', rule.fault, target, subject, nth) < rule.rate;
  }

  #isSpent({ rule, since, hits }: Active): boolean {
    const { count, rate, forMs } = rule;
    if (forMs !== undefined && this.#clock.now() >= since + forMs) return true;
    const most = count ?? (rate === undefined && forMs === undefined ? 1 : Number.POSITIVE_INFINITY);
    return hits >= most;
  }
}

function matches(rule: FaultRule, site: Site): boolean {
  if (!targetsOf(rule.fault).includes(site.target)) return false;
  if (rule.endpoint !== undefined && rule.endpoint !== site.target) return false;
  if (rule.externalId !== undefined && rule.externalId !== site.externalId) return false;
  if (rule.userId !== undefined && rule.userId !== site.userId) return false;
  return rule.transId === undefined || rule.transId === site.transId;
}
