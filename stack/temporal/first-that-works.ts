/** One place to look for an executable, in the order of preference. */
export interface Candidate<Found> {
  /** How the place is called in messages, such as "temporal on PATH". */
  readonly place: string;
  look(): Promise<Look<Found>>;
}

/** `why` ends the sentence "using … because"; `reason` says why this place did not serve. */
export type Look<Found> =
  | { readonly kind: 'found'; readonly found: Found; readonly why: string }
  | { readonly kind: 'absent'; readonly reason: string };

/** None of the places served; the message lists each with its reason. */
export class NothingWorkedError extends Error {
  override readonly name = 'NothingWorkedError';

  constructor(
    what: string,
    readonly tried: readonly { readonly place: string; readonly reason: string }[],
    advice: string,
  ) {
    const lines = tried.map(({ place, reason }, index) => `  ${index + 1}. ${place}: ${reason}`);
    super([`no ${what} could be found. Tried in this order:`, ...lines, advice].join('\n'));
  }
}

/**
 * Looks in one place after another and returns the first find. The later places are not touched, for they may
 * download or build for minutes.
 *
 * @throws NothingWorkedError
 */
export async function firstThatWorks<Found>(
  what: string,
  candidates: readonly Candidate<Found>[],
  advice: string,
): Promise<{ found: Found; why: string }> {
  const tried: { place: string; reason: string }[] = [];
  for (const { place, look } of candidates) {
    const result = await look();
    if (result.kind === 'found') return result;
    tried.push({ place, reason: result.reason });
  }
  throw new NothingWorkedError(what, tried, advice);
}
