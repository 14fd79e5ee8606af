import type { Row } from './row.js';

/** How the demo came out. */
export interface Verdict {
  readonly ok: boolean;
  /** One line for each thing that went otherwise than it should. */
  readonly problems: readonly string[];
  readonly summary: string;
}

/**
 * @param strays what was found beside the payments
 * @param ms how long it took
 */
export function verdictOf(rows: readonly Row[], strays: readonly string[], ms: number): Verdict {
  const right = rows.filter(({ problems, done }) => done && problems.length === 0).length;
  const problems = [
    ...rows.flatMap(({ scenario, problems }) => problems.map((problem) => `${scenario.name}: ${problem}`)),
    ...strays,
  ];
  const ok = problems.length === 0 && right === rows.length;
  const share = ok ? `all ${rows.length} payments` : `${right} of ${rows.length} payments`;
  const ledger = ok ? ", and the provider's ledger agrees" : '';
  return {
    ok,
    problems,
    summary: `${share} ended as their scenario says${ledger} (${(ms / 1_000).toFixed(1)} s)`,
  };
}
