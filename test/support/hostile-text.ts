import { setTimeout as pause } from 'node:timers/promises';

/** Length of each text: that of the largest body. */
const LENGTH = 64 * 1024;

/** CPU time that a text may take without a second try, in ms. */
const MAX_CPU_MS = 50;

/**
 * Allowed growth of the time from a quarter of a text to all of it: linear work takes 4 times as much, quadratic work
 * 16.
 */
const MAX_GROWTH = 9;

/** Number of tries for a text that takes longer: one slowed down by other processes is fast at least once. */
const TRIES = 5;

/** Pauses before a text that seems slow is tried again, in ms: what slows a machine down may last for seconds. */
const PAUSES_MS = [0, 1_000, 10_000];

/** A character of each class that an expression, a parser or Unicode treats in a way of its own. */
const CLASSES = [
  ...['6', '2', '0', 'a', 'Z', 'é', '\u0301', 'Ａ', '文', '٣', '😀', '\u{1d7d8}', '\ufdfa', 'İ', 'ß'],
  ...[
    ' ',
    '\t',
    '\n',
    '\r',
    '\u00a0',
    '\u202f',
    '\u2028',
    '\ufeff',
    '\u200b',
    '\u202e',
    '\0',
    '\u0007',
    '\u001b',
    '\u0085',
  ],
  ...['-', '_', '.', ',', ':', ';', '+', '=', '@', '/', '\\', '?', '#', '&', '%', '|', '~', '^', '$', '*', '!', '`'],
  ...['"', "'", '<', '>', '(', ')', '[', ']', '{', '}', '\ud800', '\udc00'],
  ...[
    'a.',
    '.a',
    'a@',
    'a-',
    '6 ',
    ' 6',
    '+ ',
    '\\"',
    '%41',
    '&a',
    'a=b;',
    '; ',
    ', ',
    '::',
    '[[',
    '{"',
    '<a ',
    'é\u0301',
    // Marks whose order Unicode's normal forms change, one by one.
    '\u0301\u0323',
  ],
] as const;

/** Beginnings that lead into the middle of an expression, from which it might go back. */
const BEGINNINGS = [
  '',
  '+237',
  '6',
  'a',
  'a@a',
  'https://a',
  'col_',
  '2026-11-21T08:20:32',
  'Bearer ',
  '"',
  '1',
  '127.',
  '/desk/',
  'a:b',
] as const;

/** Texts of {@link LENGTH} characters: each class of them, after each beginning, with an end that doesn't fit. */
function hostileTexts(): string[] {
  return CLASSES.flatMap((piece) => {
    const run = piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
    return BEGINNINGS.map((beginning) => `${beginning}${run}\u0000`);
  });
}

/** Describes a text in an error. */
const shown = (text: string, ms: number) =>
  `${JSON.stringify(text.slice(0, 20))}… ${JSON.stringify(text.slice(-3))}: ${ms} ms`;

/** The first quarter of a text, with the end of all of it. */
const aQuarterOf = (text: string) => text.slice(0, text.length / 4) + text.slice(-1);

/** CPU time that no machine is so slow as to need for work on a text that is linear, in ms. */
const NO_MACHINE_MS = MAX_CPU_MS * 40;

/**
 * Reports whether work on a text grows faster than the text: the whole takes much more than four times its quarter. A
 * busy machine takes longer for both, so that neither is judged by its time alone.
 */
const growsTooFast = (whole: number, quarter: number) => whole > quarter * MAX_GROWTH;

/** The CPU time that this thread needs for a piece of work, in ms: the least of some tries. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let made = 0; made < TRIES && least > MAX_CPU_MS; made += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** The first of these texts that takes too long, as an error would show it; `undefined` when none does. */
export async function slowest(
  work: (text: string) => unknown,
  texts: readonly string[] = TEXTS,
  quarterOf = aQuarterOf,
): Promise<string | undefined> {
  for (const text of texts) {
    const ms = await slowMsOf(
      () => work(text),
      () => work(quarterOf(text)),
    );
    if (ms !== undefined) return shown(text, ms);
  }
  return undefined;
}

/** The CPU time of work that grows too fast, each time that it is tried; `undefined` when it once doesn't. */
async function slowMsOf(whole: () => unknown, quarter: () => unknown): Promise<number | undefined> {
  let ms: number | undefined;
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await pause(pauseMs);
    ms = await cpuMsOf(whole);
    if (ms > NO_MACHINE_MS) return ms;
    if (ms <= MAX_CPU_MS || !growsTooFast(ms, await cpuMsOf(quarter))) return undefined;
  }
  return ms;
}

const TEXTS = hostileTexts();

/** The pieces that {@link slowest} repeats, as runs of this many characters with an end that doesn't fit. */
export function runsOf(length: number, pieces: readonly string[] = CLASSES): string[] {
  return pieces.map((piece) => `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length)}\u0000`);
}
