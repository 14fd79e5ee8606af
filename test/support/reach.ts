/** Who may reach whom in docker-compose.yml: each service, and those whose ports it gets at. */
export const REACHES: Readonly<Record<string, readonly string[]>> = {
  postgres: ['api', 'postgres-exporter', 'records-database', 'temporal', 'temporal-schema', 'worker'],
  backup: [],
  'temporal-schema': ['postgres', 'temporal'],
  'records-database': ['api', 'postgres', 'postgres-exporter', 'worker'],
  temporal: ['api', 'postgres', 'prometheus', 'temporal-schema', 'temporal-setup', 'temporal-ui', 'worker'],
  'temporal-setup': ['api', 'temporal', 'worker'],
  'temporal-ui': ['temporal'],
  api: [
    ...['balancer', 'desk', 'node-exporter', 'postgres', 'postgres-exporter', 'prometheus', 'records-database'],
    ...['sandbox', 'temporal', 'temporal-setup', 'worker'],
  ],
  balancer: ['api', 'desk'],
  worker: [
    ...['api', 'node-exporter', 'postgres', 'postgres-exporter', 'prometheus', 'records-database', 'sandbox'],
    ...['temporal', 'temporal-setup'],
  ],
  codec: [],
  desk: ['api', 'balancer'],
  sandbox: ['api', 'worker'],
  prometheus: ['api', 'grafana', 'node-exporter', 'postgres-exporter', 'temporal', 'worker'],
  'postgres-exporter': ['api', 'node-exporter', 'postgres', 'prometheus', 'records-database', 'worker'],
  'node-exporter': ['api', 'postgres-exporter', 'prometheus', 'worker'],
  grafana: ['prometheus'],
};
