import type { Command } from 'commander';
import type { DoctorOptions } from '../doctor/run-doctor.js';
import { untilDone } from '../run.js';
import { withTarget } from '../target.js';

/** The command `doctor`: finds problems of an installation, with their remedies. */
export function addDoctorCommand(program: Command): void {
  withTarget(
    program
      .command('doctor')
      .summary('check settings, Temporal, worker, provider, API, clocks and webhooks')
      .description(
        'Checks the settings of the API and the worker; that Temporal answers, that its namespace has what payments need, and ' +
          'that a worker takes them; that the provider accepts the credentials; that the API is ready and accepts the key; that ' +
          'the clocks agree; and that the webhook address can be reached. It changes nothing, and sends no payment and no ' +
          'notification.',
      )
      .option('--settings <file>', 'check the settings in this file, such as .env'),
  )
    .addHelpText(
      'after',
      `
Without --settings, it checks the "sanaga start" that runs in the current folder
or, where none runs, the settings in the environment. It says which.

Examples:
  sanaga doctor
  sanaga doctor --settings .env --url https://sanaga.example

Exit code: 0 when nothing fails, 1 when something does, 2 when there is nothing
to check.`,
    )
    .action((options: DoctorOptions) =>
      untilDone(async () => (await import('../doctor/run-doctor.js')).runDoctor(options), options),
    );
}
