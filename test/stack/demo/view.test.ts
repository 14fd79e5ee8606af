import { describe, expect, it } from '@jest/globals';
import { verdictOf } from '../../../stack/demo/verdict.js';
import { demoView } from '../../../stack/demo/view.js';
import { payment, row } from './rows.js';

/** Plays a payment from its creation to its end, and gives what was written. */
function play(json: boolean) {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') => ({
    write(text: string | Uint8Array) {
      written[name] += String(text);
      return true;
    },
  });
  const view = demoView(json, { stdout: into('stdout'), stderr: into('stderr') });
  const created = row({ payment: { ...payment, status: 'CREATED', final: false }, done: false });
  const { payment: _, ms: __, ...nothing } = created;
  for (const step of [created, created, row({ done: false }), row()]) view.show([step], step);
  const failed = { ...nothing, done: true, problems: ['the API answered 503'] };
  view.show([failed], failed);
  view.finish([row()], verdictOf([row()], [], 1_000));
  return written;
}

describe('the demo with --json', () => {
  it('writes one JSON object a payment, once it has ended, and nothing else', () => {
    const lines = play(true).stdout.split('\n');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: 'col_1', status: 'SUCCESSFUL', events: 17 });
  });

  it('keeps its progress and its verdict to stderr', () => {
    const { stderr } = play(true);
    expect(stderr).toContain('link, paid: CREATED');
    expect(stderr).toContain('not begun (the API answered 503)');
    expect(stderr).toContain('demo: all 1 payments ended');
  });
});

describe('the demo without a terminal', () => {
  it('writes each status once, then the table and the verdict, without a single escape', () => {
    const { stdout, stderr } = play(false);
    expect(stdout.match(/link, paid: CREATED/g)).toHaveLength(1);
    expect(stdout.match(/link, paid: SUCCESSFUL, final/g)).toHaveLength(1);
    expect(stdout).toContain(payment.temporalUrl);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^demo: all 1 payments ended/);
    expect(stdout).not.toContain('\u001b');
    expect(stderr).toBe('');
  });
});
