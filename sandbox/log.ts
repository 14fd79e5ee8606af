import { pino } from 'pino';
import type { Settings } from './settings.js';

/** Logs an event. The details never include a phone number, e-mail address, name or credential. */
export type Log = (event: string, details: Readonly<Record<string, unknown>>) => void;

/** A second safeguard: no event has these fields. */
const REDACTED = ['authorization', 'apikey', 'phone', 'email', 'name', '*.apikey', '*.phone', '*.email'];

/** JSON lines on the standard output; the event `error` at level error, all others at info. */
export function createLog(level: Settings['LOG_LEVEL']): Log {
  const logger = pino({
    level,
    base: { part: 'sandbox' },
    redact: { paths: REDACTED, censor: '[hidden]' },
  });
  return (event, details) => logger[event === 'error' ? 'error' : 'info'](details, event);
}
