import { fileURLToPath } from 'node:url';
import { withoutSettings } from '../stack/processes/settings.js';

/** The project's folder, seen from where this runs: `build/bench`. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** The environment without Temporal's own settings, which would lead to another server. */
export function withoutTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

/** Settings of the other engines, and of PostgreSQL's clients. */
const OTHERS = /^(DBOS|RESTATE|PG)/;

/** Returns the environment that every process of every system starts with: no settings, and Node as in production. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const env = Object.entries(withoutTemporal(withoutSettings(process.env)));
  return { ...Object.fromEntries(env.filter(([name]) => !OTHERS.test(name))), NODE_ENV: 'production' };
}
