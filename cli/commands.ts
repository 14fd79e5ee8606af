/** One command, as its users read of it. */
interface Command {
  readonly summary: string;
  readonly details: string;
  /** It can print JSON lines in place of a table. */
  readonly json: boolean;
}

const processDetails = (settings: string) =>
  `Its settings come from the environment:
${settings}
A wrong setting ends it at once with exit code 78 and one line for each mistake.
SIGTERM and SIGINT end it gracefully, within 10 seconds.`;

export const COMMANDS = {
  demo: {
    summary: 'Take payments of every kind to their outcomes, and show them',
    json: true,
    details: `Brings up Temporal, the provider's sandbox, a worker and the API, takes real payments through them, shows
each one with its outcome and its link into Temporal's Web UI, and stops what it started. Nothing is left
behind. A day of the sandbox passes in 15 seconds, so that a link can be seen to expire.

With TEMPORAL_ADDRESS set, that Temporal server is used; otherwise one is started.

Exit code 0 when every payment ended as its scenario says and the provider's ledger agrees, 1 when not.`,
  },
  start: {
    summary: 'The same stack, left running, with its state in .sanaga/',
    json: false,
    details: `Brings up Temporal, the provider's sandbox, a worker and the API, prints their addresses, and runs until
Ctrl-C. Temporal's database, the sandbox's ledger, the generated API key and the logs are kept in .sanaga/ of
the current folder, so that a restart loses nothing.

  PORT               of the API (default 3000)
  SANDBOX_PORT       of the sandbox (default 4000)
  TEMPORAL_ADDRESS   use that Temporal server in place of one of its own
  TEMPORAL_PORT, TEMPORAL_UI_PORT   of one of its own (default 7233 and 8233)
  API_KEYS           in place of the generated key
  MERCHANT_WEBHOOK_URL, MERCHANT_WEBHOOK_SECRET   where outcomes are sent

All other settings of the processes hold, too. Exit code 0 when it was asked to stop, 1 when a part of it
failed, 78 when a setting is wrong.`,
  },
  server: {
    summary: "The API's process alone, as in production",
    json: false,
    details:
      processDetails(`  PORT, HOST, API_KEYS, WEBHOOK_TOKEN, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TASK_QUEUE,
  TEMPORAL_UI_URL, PROVIDER_…, LINK_LIFETIME, POLL_FIRST, POLL_MAX, AMBIGUOUS_GRACE, AMBIGUOUS_POLICY,
  RESOLVE_AFTER, SEND_BY`),
  },
  worker: {
    summary: "The worker's process alone, as in production",
    json: false,
    details:
      processDetails(`  TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TASK_QUEUE, PROVIDER_…, MERCHANT_WEBHOOK_URL,
  MERCHANT_WEBHOOK_SECRET, WORKER_…`),
  },
  sandbox: {
    summary: "The provider's sandbox alone",
    json: false,
    details:
      processDetails(`  SANDBOX_PORT, HOST, SANDBOX_PUBLIC_URL, SANDBOX_WEBHOOK_URL, SANDBOX_WEBHOOK_DELAY,
  SANDBOX_SETTLE_DELAY, SANDBOX_CLOCK_SCALE, SANDBOX_SEED, PROVIDER_COLLECTION_API_USER, …_API_KEY,
  PROVIDER_PAYOUT_API_USER, …_API_KEY`),
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;

export function isCommandName(text: string): text is CommandName {
  return Object.hasOwn(COMMANDS, text);
}
