import { Context } from '@temporalio/activity';

export interface CallLimit {
  readonly signal: AbortSignal;
}

/** An activity gives a call up this long before its own time limit, in ms, so that the outcome still arrives. */
const END_EARLY_MS = 1_000;

/**
 * A signal that aborts a call to the provider when the worker has to stop, so that the call is ambiguous at once, and
 * shortly before the activity's time limit. Call it when the activity begins, since that is when its time starts.
 */
export function callLimit(): CallLimit {
  const { cancellationSignal, info } = Context.current();
  const call = new AbortController();
  const end = () => call.abort();
  setTimeout(end, Math.max(0, info.startToCloseTimeoutMs - END_EARLY_MS)).unref();
  if (cancellationSignal.aborted) end();
  else cancellationSignal.addEventListener('abort', end, { once: true });
  return { signal: call.signal };
}
