/** What renders the chart. scripts/containers.js has it built, too. */
export const HELM = { module: 'helm.sh/helm/v3', version: '3.22.0' } as const;
