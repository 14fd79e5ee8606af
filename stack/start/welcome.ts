import type { TemporalServer } from '../temporal/bring-up-temporal.js';

export interface WelcomeFacts {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly temporal: Pick<TemporalServer, 'target' | 'uiUrl' | 'kind'>;
  /** The generated key; `undefined` when the operator has set their own, which are not shown. */
  readonly apiKey: string | undefined;
  /** The names of the keys that hold. */
  readonly keyNames: readonly string[];
  /** The processes, each as `name pid`. */
  readonly processes: readonly string[];
  /** Where the state is kept. */
  readonly folder: string;
}

/** What `start` prints once everything runs: where it is, a first call to try, and what a restart keeps. */
export function welcome(facts: WelcomeFacts): string {
  const { apiUrl, sandboxUrl, temporal, apiKey, keyNames, folder } = facts;
  const key = apiKey ?? '<key>';
  return `
Sanaga is running. Ctrl-C stops it.

  API              ${apiUrl}
  Sandbox          ${sandboxUrl}   (ledger: ${sandboxUrl}/_sandbox/ledger)
  Temporal         ${temporal.target.address}, namespace ${temporal.target.namespace}
  Temporal Web UI  ${temporal.uiUrl ?? 'not known: set TEMPORAL_UI_URL'}
  API key          ${apiKey ?? `from API_KEYS (${keyNames.join(', ')})`}
  Processes        ${facts.processes.join(', ')}
  Logs             ${folder}/logs

Collect 5,000 XAF by a payment link: open the "link" of the answer in a browser, and pay with 677 000 000.

  curl -s ${apiUrl}/v1/collections \\
    -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"method": "link", "amount": 5000}'

Then wait for its outcome, with the "id" of the answer:

  curl -s '${apiUrl}/v1/payments/<id>?wait=30' -H 'Authorization: Bearer ${key}'

${kept(temporal.kind, folder)}
So is what the sandbox knows: a link that was not paid before a restart can be paid after it.
`;
}

function kept(kind: TemporalServer['kind'], folder: string): string {
  return kind === 'embedded'
    ? `Payments and the key are kept in ${folder}/, and a restart loses nothing.`
    : `The key is kept in ${folder}/, and payments in your Temporal server: a restart loses nothing.`;
}
