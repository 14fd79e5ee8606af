import { withoutSettings } from '../stack/processes/settings.js';

/** The environment without Temporal's own settings, which would lead to another server. */
export function withoutTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

/** What every process of every system starts with: nobody's settings, and Node as in production. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return { ...withoutTemporal(withoutSettings(process.env)), NODE_ENV: 'production' };
}
