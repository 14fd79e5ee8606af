import Table from 'cli-table3';
import type { SimulationReport } from './run-simulation.js';

/** What happened in a simulation, as tables for a terminal. */
export function describeReport({ result, doings, digest }: SimulationReport): string {
  const { faults, crashes, invariants } = result;
  return [
    table('What people did, and how payments ended', doings),
    table('Faults', faults),
    table('Crashes', crashes),
    table('Invariants broken', invariants),
    `digest of the faults: ${digest}`,
  ].join('\n\n');
}

function table(title: string, counts: Readonly<Record<string, number>>): string {
  const rows = new Table({
    head: [title, ''],
    colAligns: ['left', 'right'],
    style: { head: [], border: [], compact: true },
  });
  rows.push(...Object.entries(counts).map(([name, count]) => [name, count.toLocaleString('en')]));
  return rows.toString();
}
