import { describe, expect, it } from '@jest/globals';
import { COMMANDS, isCommandName } from '../../cli/commands.js';
import { helpText } from '../../cli/help.js';

const names = Object.keys(COMMANDS).filter(isCommandName);

describe('the help', () => {
  it('names every command with its summary', () => {
    for (const name of names) expect(helpText()).toContain(`  ${name}`);
    expect(helpText()).toContain(COMMANDS.demo.summary);
  });

  it.each(names)('of %s shows how it is used, within 120 columns', (name) => {
    const text = helpText(name);
    expect(text).toContain(`Usage: sanaga ${name}`);
    expect(text).toContain('--help');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  it('names --json for the demo alone', () => {
    expect(names.filter((name) => helpText(name).includes('--json'))).toEqual(['demo']);
  });
});
