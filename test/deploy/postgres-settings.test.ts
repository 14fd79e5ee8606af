import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { MAX_CONNECTIONS } from '../../bench/servers/temporal-on-postgres.js';
import { MEASURED_SETTINGS } from '../../stack/postgres/postgres.js';

const { services } = z
  .object({
    services: z.object({
      postgres: z.object({ command: z.array(z.string()) }),
      temporal: z.object({ environment: z.record(z.string(), z.string()) }),
    }),
  })
  .parse(parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }));

describe('the PostgreSQL of docker-compose.yml', () => {
  it('has the settings that the benchmarks have measured', () => {
    const settings = services.postgres.command.filter((word) => word.includes('=')).map((word) => word.split('='));
    expect(Object.fromEntries(settings)).toMatchObject(MEASURED_SETTINGS);
  });

  it('gets as many connections of Temporal as there, and has room for them and for ten processes of ours', () => {
    const { environment } = services.temporal;
    expect(environment).toMatchObject({
      SQL_MAX_CONNS: `${MAX_CONNECTIONS}`,
      SQL_MAX_IDLE_CONNS: `${MAX_CONNECTIONS}`,
      SQL_VIS_MAX_CONNS: `${MAX_CONNECTIONS}`,
      SQL_VIS_MAX_IDLE_CONNS: `${MAX_CONNECTIONS}`,
    });
    const parts = 4;
    const databases = 2;
    const ours = 10 * 10;
    expect(Number(MEASURED_SETTINGS.max_connections)).toBeGreaterThan(parts * databases * MAX_CONNECTIONS + ours);
  });
});
