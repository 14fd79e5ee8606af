/** Who may reach whom in docker-compose.yml: each service, and those whose ports it gets at. */
export const REACHES: Readonly<Record<string, readonly string[]>> = {
  postgres: ['api', 'book-database', 'migrate', 'postgres-exporter', 'temporal', 'temporal-schema', 'worker'],
  'temporal-schema': ['postgres', 'temporal'],
  'book-database': ['api', 'migrate', 'postgres', 'worker'],
  migrate: ['api', 'book-database', 'postgres', 'worker'],
  backup: [],
  temporal: ['api', 'postgres', 'prometheus', 'temporal-schema', 'temporal-setup', 'temporal-ui', 'worker'],
  'temporal-setup': ['api', 'temporal', 'worker'],
  'temporal-ui': ['temporal'],
  api: [
    ...['balancer', 'book-database', 'desk', 'migrate', 'postgres', 'prometheus', 'sandbox', 'temporal'],
    ...['temporal-setup', 'worker'],
  ],
  balancer: ['api', 'desk'],
  worker: [...['api', 'book-database', 'migrate', 'postgres', 'prometheus', 'sandbox', 'temporal', 'temporal-setup']],
  codec: [],
  desk: ['api', 'balancer'],
  sandbox: ['api', 'worker'],
  prometheus: ['api', 'grafana', 'node-exporter', 'postgres-exporter', 'temporal', 'worker'],
  'postgres-exporter': ['node-exporter', 'postgres', 'prometheus'],
  'node-exporter': ['postgres-exporter', 'prometheus'],
  grafana: ['prometheus'],
};
