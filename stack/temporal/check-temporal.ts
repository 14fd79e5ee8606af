import { isExecutableFile } from './on-path.js';
import { lastLine, runCommand } from './run-command.js';

/** The first Temporal server in which update-with-start, the way every payment begins, is generally available. */
const OLDEST_SERVER = { major: 1, minor: 28 } as const;

const VERSION_LIMIT = 20_000;

export type TemporalCheck =
  | { readonly kind: 'usable'; readonly version: string }
  | { readonly kind: 'unusable'; readonly reason: string };

/**
 * Asks an executable for its version: another program of the same name, a half-copied file, one for another machine,
 * or one too old for update-with-start is told apart here, before a payment depends on it.
 */
export async function checkTemporal(path: string, env: NodeJS.ProcessEnv): Promise<TemporalCheck> {
  if (!(await isExecutableFile(path))) return { kind: 'unusable', reason: `${path} is not there` };

  const outcome = await runCommand(path, ['--version'], { env, timeLimit: VERSION_LIMIT });
  if (outcome.kind === 'failed') {
    return {
      kind: 'unusable',
      reason: `${path} does not run: ${lastLine(outcome.output) || outcome.reason}`,
    };
  }

  const [, version, major, minor] = /\bserver v?((\d+)\.(\d+)[^\s,)]*)/i.exec(outcome.output) ?? [];
  if (version === undefined) {
    return {
      kind: 'unusable',
      reason: `${path} says "${lastLine(outcome.output)}", so it is no Temporal CLI`,
    };
  }
  const isTooOld =
    Number(major) < OLDEST_SERVER.major ||
    (Number(major) === OLDEST_SERVER.major && Number(minor) < OLDEST_SERVER.minor);
  if (isTooOld) {
    const { major: needed, minor: neededMinor } = OLDEST_SERVER;
    return {
      kind: 'unusable',
      reason: `${path} brings server ${version}, but ${needed}.${neededMinor} or later is needed`,
    };
  }
  return { kind: 'usable', version };
}
