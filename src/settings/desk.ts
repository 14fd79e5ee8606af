import { z } from 'zod';
import { baseUrl, duration, floatWarnBelow, host, logLevel, port, trustedProxies } from './kinds.js';

/** The desk's settings. */
export const deskSettings = z.object({
  HOST: host,
  DESK_PORT: port(3001),
  DESK_API_URL: baseUrl.default('http://127.0.0.1:3000'),
  DESK_SESSION: duration('8h', { min: '5m', max: '24h' }),
  DESK_SESSION_IDLE: duration('30m', { min: '1m', max: '24h' }),
  FLOAT_WARN_BELOW: floatWarnBelow,
  TRUSTED_PROXIES: trustedProxies,
  LOG_LEVEL: logLevel,
});
