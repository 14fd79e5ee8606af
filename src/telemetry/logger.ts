import { type Logger, pino, stdTimeFunctions } from 'pino';

/** Log fields that may never show: credentials, and what names a person. A second fence; nothing should log them. */
const HIDDEN = [
  'authorization',
  'apikey',
  'phone',
  'email',
  'name',
  'req.headers.authorization',
  'req.headers.cookie',
  '*.phone',
  '*.email',
  '*.apikey',
];

/**
 * The one logger of a process: JSON lines on the standard output, with the time as ISO 8601 in UTC.
 *
 * @param part which process speaks: api, worker, desk, codec, records or replay
 */
export function createLogger(part: string, level: string): Logger {
  return pino({
    level,
    base: { part },
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: HIDDEN, censor: '[hidden]' },
  });
}
