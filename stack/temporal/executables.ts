import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import which from 'which';

/** Returns Sanaga's folder for executables that it downloads or builds: `${XDG_CACHE_HOME:-~/.cache}/sanaga`. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: root = '', HOME: home = homedir() } = env;
  // The XDG specification says to ignore a relative path.
  return join(isAbsolute(root) ? root : join(home, '.cache'), 'sanaga');
}

/** The absolute path of the first executable file of this name on PATH. */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const path = await which(name, { path: env.PATH ?? '', nothrow: true });
  return path === null ? undefined : resolve(path);
}

/** Reports whether this process may run the file at this absolute path. */
export async function isExecutableFile(path: string): Promise<boolean> {
  return (await which(path, { nothrow: true })) !== null;
}

/** One place to look for an executable. */
export interface Candidate<Found> {
  /** The place's name in messages: "temporal on PATH", say. */
  readonly place: string;
  look(): Promise<LookResult<Found>>;
}

/** `why` completes the sentence "using … because"; `reason` says why the place has nothing to offer. */
export type LookResult<Found> =
  | { readonly kind: 'found'; readonly found: Found; readonly why: string }
  | { readonly kind: 'absent'; readonly reason: string };

/** None of the places had the executable; the message lists each with its reason. */
export class NothingWorkedError extends Error {
  override readonly name = 'NothingWorkedError';

  constructor(
    what: string,
    readonly tried: readonly { readonly place: string; readonly reason: string }[],
    advice: string,
  ) {
    const lines = tried.map(({ place, reason }, index) => `  ${index + 1}. ${place}: ${reason}`);
    super([`no ${what} found. Tried in this order:`, ...lines, advice].join('\n'));
  }
}

/**
 * Looks in one place after another until the executable is found. A later place may take minutes to download or build
 * it, so no place is tried before it is needed.
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
