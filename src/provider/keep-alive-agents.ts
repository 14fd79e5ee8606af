import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/**
 * How long an unused connection is kept, in ms. Below the 5 s after which common servers hang up: a POST sent on a
 * connection that the other side is just closing may or may not have arrived, and that doubt is avoidable.
 */
const IDLE_MS = 4_000;

/** Longest wait for one of a host's several addresses before the next is tried, in ms; Node's own 250 is less than a far host's round trip. */
const NEXT_ADDRESS_MS = 1_000;

export interface AgentOptions {
  /** ms that a connection may take. */
  readonly connectMs: number;
  /** ms that an unused connection is kept. */
  readonly idleMs?: number;
}

/** Connections to the provider: kept alive between requests, for one service only. */
export function createKeepAliveAgents({ connectMs, idleMs = IDLE_MS }: AgentOptions): {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
} {
  const options = {
    keepAlive: true,
    // Only unused connections end on it; one that waits for an answer is limited by the request's own time.
    timeout: idleMs,
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.min(NEXT_ADDRESS_MS, Math.floor(connectMs / 2))),
  };
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}
