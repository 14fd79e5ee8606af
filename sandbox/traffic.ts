import type { EndpointName } from './endpoints/endpoint.js';

/** How much was asked of the sandbox, and how much of it was refused. */
export class Traffic {
  readonly requests = new Map<EndpointName, number>();
  /** Requests answered with 429, for the status limit or by a fault. */
  throttled = 0;

  count(endpoint: EndpointName): void {
    this.requests.set(endpoint, (this.requests.get(endpoint) ?? 0) + 1);
  }
}
