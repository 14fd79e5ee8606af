/** The finding of a check. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** The remedy. */
  readonly todo?: string;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail });
export const warn = (check: string, detail: string, todo: string): Finding => ({
  check,
  status: 'warn',
  detail,
  todo,
});
export const fail = (check: string, detail: string, todo: string): Finding => ({
  check,
  status: 'fail',
  detail,
  todo,
});

/** Formats an error in a few words: those of fetch hide theirs in the cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return code ?? (cause.name === 'TimeoutError' ? 'no answer in time' : cause.message);
}
