import { writeSync } from 'node:fs';
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
 * The one logger of a process: JSON lines on the standard output, with the time as ISO 8601 in UTC; on the standard
 * error output once nobody reads the former any more, because payments go on, and their log must not end in silence.
 *
 * @param part which process speaks: api, worker, desk, codec, records or replay
 * @param fd the standard error output from the beginning, where the standard output has something else
 */
export function createLogger(part: string, level: string, fd: 1 | 2 = 1): Logger {
  const output = pino.destination({ fd, sync: true });
  const logger = pino(
    {
      level,
      base: { part },
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: HIDDEN, censor: '[hidden]' },
    },
    output,
  );
  output.on('error', (error: NodeJS.ErrnoException) => {
    // As without this listener.
    if (error.code !== 'EPIPE') throw error;
    // Pino has put a function that does nothing here.
    output.write = writeToStderr;
    logger.error("nobody reads this process's standard output any more: a line was lost, and the log goes on here");
  });
  return logger;
}

function writeToStderr(line: string): boolean {
  try {
    writeSync(2, line);
    return true;
  } catch {
    // Nobody reads anything.
    return false;
  }
}
