import type { Command } from 'commander';
import { untilDone } from '../run.js';

/** The commands that run all of Sanaga on this machine: `demo`, `start` and `shop`. */
export function addTrialCommands(program: Command): void {
  program.commandsGroup('Trying it:');
  addDemoCommand(program);
  addStartCommand(program);
  addShopCommand(program);
}

function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .summary('take payments of every kind to their outcomes, and show them')
    .description(
      "Starts PostgreSQL, Temporal, the provider's sandbox, a worker, the API and the codec server, takes " +
        'payments of every kind through them, and ' +
        "shows each with its outcome and a link to it in Temporal's Web UI. Then it stops everything and leaves nothing " +
        'behind. A day of the sandbox takes 15 seconds, so that you can see a link expire.',
    )
    .option('--json', 'print each payment as a line of JSON; progress goes to stderr')
    .addHelpText(
      'after',
      `
Environment:
  TEMPORAL_ADDRESS   use this Temporal server instead of starting one

Exit code: 0 when every payment ended as its scenario says and the provider's
ledger agrees, otherwise 1.`,
    )
    .action(({ json = false }: { json?: boolean }) =>
      untilDone(async (stop) => (await import('../../stack/demo/run-demo.js')).runDemo({ json, stop })),
    );
}

function addStartCommand(program: Command): void {
  program
    .command('start')
    .summary('run the same processes and the desk until Ctrl-C, with their state in .sanaga/')
    .description(
      "Starts PostgreSQL, Temporal, the provider's sandbox, a worker, the API, the desk and the codec server, prints their addresses, and runs until you press " +
        "Ctrl-C. The book, Temporal's database, all that the sandbox knows, the generated secrets and the logs are kept in " +
        '.sanaga/ in the current folder, so that a restart loses nothing.',
    )
    .addHelpText(
      'after',
      `
Environment:
  PORT               port of the API (default: 3000)
  SANDBOX_PORT       port of the sandbox (default: 4000)
  TEMPORAL_ADDRESS   use this Temporal server instead of starting one
  TEMPORAL_PORT      port of the Temporal that is started (default: 7233)
  TEMPORAL_UI_PORT   port of its Web UI (default: 8233)
  DESK_PORT          port of the desk (default: 3001)
  CODEC_PORT         port of the codec server, with which the Web UI reads
                     payments (default: 8234)
  API_KEYS           use these API keys instead of a generated one
  MERCHANTS_FILE     several merchants, each with keys, addresses and limits
  MERCHANT_WEBHOOK_URL, MERCHANT_WEBHOOK_SECRET
                     where outcomes are sent, and the secret that signs them
                     (default: to "sanaga listen", with a generated secret)
  LISTEN_PORT        port that "sanaga listen" then has (default: 4242)
  The other settings of the processes apply, too: see docs/settings.md.

Exit code: 0 when it was asked to stop, 1 when a part of it failed, 78 when a
setting is wrong.`,
    )
    .action(() => untilDone(async (stop) => (await import('../../stack/start/run-start.js')).runStart({ stop })));
}

function addShopCommand(program: Command): void {
  program
    .command('shop')
    .summary('run the same, with an example shop that takes payments')
    .description(
      'Does what "start" does, and runs the example shop (examples/shop) beside it: a small order system that takes payments ' +
        'by link, receives the notifications, and refunds. Open its address in a browser, and buy something.',
    )
    .addHelpText(
      'after',
      `
Environment:
  SHOP_PORT          port of the shop (default: 8080)
  Those of "start", but API_KEYS, MERCHANTS_FILE and MERCHANT_WEBHOOK_…: the shop
  has the generated key, and receives the notifications.

Exit code: that of "start".`,
    )
    .action(() =>
      untilDone(async (stop) => (await import('../../stack/start/run-start.js')).runStart({ stop, withShop: true })),
    );
}
