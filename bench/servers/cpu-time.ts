import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks a second, in which Linux counts CPU time. */
const ticksPerSecond = () => Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** A process, as `/proc/PID/stat` has it. */
interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

/**
 * The CPU time that processes have used so far, each with its children and what ended children have left, in ms. The
 * difference of two readings is what they used in between.
 *
 * @throws Error where there is no `/proc` of Linux.
 */
export async function readCpuTimes(processes: Readonly<Record<string, number>>): Promise<Record<string, number>> {
  const all = await readAll();
  const ticksOf = ({ pid, ticks }: ProcessTimes): number =>
    all.filter(({ parent }) => parent === pid).reduce((sum, child) => sum + ticksOf(child), ticks);
  const perMs = ticksPerSecond() / 1_000;
  return Object.fromEntries(
    Object.entries(processes).map(([name, pid]) => {
      const found = all.find((one) => one.pid === pid);
      if (found === undefined) throw new Error(`${name} (process ${pid}) is not running`);
      return [name, ticksOf(found) / perMs];
    }),
  );
}

async function readAll(): Promise<ProcessTimes[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // A process may end between the two readings.
  const texts = await Promise.all(names.map((name) => readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')));
  return texts.filter((text) => text !== '').map(toTimes);
}

/** The fields behind the program's name, which may hold spaces and brackets itself: see proc_pid_stat(5). */
function toTimes(text: string): ProcessTimes {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [, parent] = fields;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number.parseInt(text, 10), parent: Number(parent), ticks };
}

/** CPU time of the whole machine so far, in ms: used, and available. */
export interface MachineTime {
  readonly used: number;
  readonly there: number;
}

/** @throws Error where there is no `/proc` of Linux. */
export async function readMachineTime(): Promise<MachineTime> {
  const [total = ''] = (await readFile('/proc/stat', 'utf8')).split('\n', 1);
  // user, nice, system, idle, iowait, irq, softirq, steal: what follows is counted in these already.
  const ticks = total.split(/\s+/).slice(1, 9).map(Number);
  const there = ticks.reduce((sum, each) => sum + each, 0);
  const [, , , idle = 0, waiting = 0] = ticks;
  const perMs = ticksPerSecond() / 1_000;
  return { used: (there - idle - waiting) / perMs, there: there / perMs };
}
