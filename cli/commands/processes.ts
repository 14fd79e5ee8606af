import type { Command } from 'commander';
import { SETTING_NAMES } from '../../sandbox/settings.js';
import { settingNames } from '../../src/settings/read-settings.js';

const TEMPORAL = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];
const PROCESSES = [
  {
    name: 'server',
    what: "the API's process",
    settings: [...TEMPORAL, ...settingNames('api')],
    run: () => import('../../src/server.js'),
  },
  {
    name: 'worker',
    what: "the worker's process",
    settings: [...TEMPORAL, ...settingNames('worker')],
    stopsWithin: 'two seconds more than WORKER_SHUTDOWN_GRACE',
    run: () => import('../../src/worker.js'),
  },
  {
    name: 'codec-server',
    what: "the codec server, with which Temporal's Web UI and command line read payments,",
    settings: settingNames('codec'),
    run: () => import('../../src/codec-server.js'),
  },
  {
    name: 'desk',
    what: 'the pages on which operators decide',
    settings: settingNames('desk'),
    run: () => import('../../src/desk.js'),
  },
  {
    name: 'sandbox',
    what: "the provider's sandbox",
    settings: SETTING_NAMES,
    run: () => import('../../sandbox/main.js'),
  },
];

/** A command for each process of Sanaga, and the sandbox. */
export function addProcessCommands(program: Command): void {
  program.commandsGroup('Processes, one by one:');
  for (const { name, what, settings, stopsWithin = '10 seconds', run } of PROCESSES) {
    program
      .command(name)
      .summary(`run ${what} alone`)
      .description(`Runs ${what} alone. Its settings come from the environment; see docs/settings.md.`)
      .addHelpText('after', settingsHelp(settings, stopsWithin))
      .action(() => run().then(() => undefined));
  }
}

function settingsHelp(settings: readonly string[], stopsWithin: string): string {
  return `
Environment:
${inLines(settings)}

Exit code: 0 when it was asked to stop, 78 when a setting is wrong, with a line
for each mistake. SIGTERM and SIGINT stop it gracefully, within
${stopsWithin}.`;
}

/** The words, indented, in lines of less than 80 characters. */
function inLines(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1)}, ${word}`;
    if (lines.length > 0 && longer.length < 79) lines[lines.length - 1] = longer;
    else lines.push(`  ${word}`);
  }
  return lines.join(',\n');
}
