import { WriteStream } from 'node:tty';
import { createLogUpdate } from 'log-update';
import { jsonOf, type Row } from './row.js';
import { paymentTable } from './table.js';
import type { Verdict } from './verdict.js';

/** How the demo is watched. */
export interface DemoView {
  /** A row has changed. */
  show(rows: readonly Row[], changed: Row): void;
  finish(rows: readonly Row[], verdict: Verdict): void;
  /** The demo broke off: leaves what is on the screen as it is. */
  leave(): void;
}

type Output = Pick<WriteStream, 'write'>;

export interface Streams {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** A table that keeps itself up to date in a terminal, lines elsewhere, and JSON lines where they are asked for. */
export function demoView(json: boolean, { stdout, stderr }: Streams): DemoView {
  if (json) return jsonView(stdout, stderr);
  // A dumb terminal can't be written over.
  const isTerminal = stdout instanceof WriteStream && process.env.TERM !== 'dumb';
  return isTerminal ? liveView(stdout) : plainView(stdout);
}

/** One line for each payment that has come to its end, and nothing else on stdout. */
function jsonView(stdout: Output, stderr: Output): DemoView {
  const progress = progressLines(stderr);
  return {
    show(_, changed) {
      progress(changed);
      const line = changed.done ? jsonOf(changed) : undefined;
      if (line !== undefined) stdout.write(`${line}\n`);
    },
    finish: (_, verdict) => stderr.write(closing(verdict)),
    leave: () => undefined,
  };
}

/** One line for each change, and the table at the end. */
function plainView(stdout: Output): DemoView {
  const progress = progressLines(stdout);
  return {
    show: (_, changed) => progress(changed),
    finish(rows, verdict) {
      const look = { width: Number.POSITIVE_INFINITY, color: false, address: 'full' } as const;
      stdout.write(`\n${paymentTable(rows, look)}\n\n${closing(verdict)}`);
    },
    leave: () => undefined,
  };
}

/** The table, drawn anew at each change; its links are those of a terminal, and stand in full below it at the end. */
function liveView(terminal: WriteStream): DemoView {
  const screen = createLogUpdate(terminal);
  const draw = (rows: readonly Row[]) => {
    screen(paymentTable(rows, { width: terminal.columns, color: terminal.hasColors(), address: 'link' }));
  };
  return {
    show: draw,
    finish(rows, verdict) {
      draw(rows);
      screen.done();
      const width = Math.max(...rows.map(({ scenario }) => scenario.name.length));
      const links = rows.map(({ scenario, payment }) => {
        return `  ${scenario.name.padEnd(width)}  ${payment?.temporalUrl ?? ''}\n`;
      });
      terminal.write(`\nIn Temporal's Web UI, while this ran:\n${links.join('')}\n${closing(verdict)}`);
    },
    leave: () => screen.done(),
  };
}

/** Says each status that a payment takes, once. */
function progressLines(stream: Output): (row: Row) => void {
  const begun = performance.now();
  const said = new Map<string, string>();
  return ({ scenario, payment, problems }) => {
    const problem = problems.length > 0 ? ` (${problems.join('; ')})` : '';
    const state = `${payment?.status ?? 'not begun'}${payment?.final ? ', final' : ''}${problem}`;
    if (said.get(scenario.name) === state) return;
    said.set(scenario.name, state);
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1).padStart(5);
    stream.write(`${seconds} s  ${scenario.name}: ${state}\n`);
  };
}

function closing({ problems, summary }: Verdict): string {
  return `${problems.map((problem) => `problem: ${problem}\n`).join('')}demo: ${summary}\n`;
}
