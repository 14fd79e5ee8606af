import { describe, expect, it } from '@jest/globals';
import { readCommandLine } from '../../cli/command-line.js';

const read = (line: string) => readCommandLine(line.split(' ').filter((word) => word !== ''));

describe('the command line', () => {
  it.each(['demo', 'start', 'server', 'worker', 'sandbox'])('runs %s', (command) => {
    expect(read(command)).toEqual({ kind: 'run', command, json: false });
  });

  it('takes --json for the demo', () => {
    expect(read('demo --json')).toEqual({ kind: 'run', command: 'demo', json: true });
  });

  it.each(['--help', '-h', 'help'])('shows the help of the whole for %s', (line) => {
    expect(read(line)).toEqual({ kind: 'help' });
  });

  it.each(['worker --help', 'worker -h'])('shows the help of a command for %s', (line) => {
    expect(read(line)).toEqual({ kind: 'help', command: 'worker' });
  });

  it('prefers to help over running', () => {
    expect(read('demo --json --help')).toEqual({ kind: 'help', command: 'demo' });
  });

  it.each([
    ['', 'which command?'],
    ['pay', 'unknown command pay'],
    ['toString', 'unknown command toString'],
    ['--json', 'unknown option --json'],
    ['demo --jsn', 'unknown option --jsn'],
    ['demo -j', 'unknown option -j'],
    ['start --json', 'unknown option --json'],
    ['demo --json=yes', '--json takes no value'],
    ['demo now', 'unexpected argument now'],
    ['demo -- --json', 'unexpected argument --json'],
    ['demo --toString', 'unknown option --toString'],
  ])('says what is wrong with "%s"', (line, message) => {
    expect(read(line)).toMatchObject({ kind: 'wrong', message });
  });
});
