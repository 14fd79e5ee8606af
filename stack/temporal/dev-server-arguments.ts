/** Everything that the command line of the dev server depends on. Ports are TCP ports of 127.0.0.1. */
export interface DevServerSettings {
  readonly port: number;
  /** Without it, there is no Web UI. */
  readonly uiPort?: number;
  readonly namespace: string;
  /** Without it, everything is kept in memory and lost at the end. */
  readonly databaseFile?: string;
}

/**
 * How often the dev server's only history shard may look for new tasks, a second. Its default of 20 makes every step
 * of a payment wait up to 50 ms.
 */
const POLLS_PER_SECOND = 2_000;

/**
 * What the server has answered must be in the file: a transaction is only done when the system says that it is on the
 * disk. Both are set so that no build of the CLI can choose less; the log written ahead costs one such wait in place of
 * the several of SQLite's default.
 */
const DURABLE = ['journal_mode=WAL', 'synchronous=FULL'] as const;

const processors = ['transferProcessor', 'timerProcessor', 'visibilityProcessor'] as const;

/** The arguments for `temporal`. */
export function devServerArguments({ port, uiPort, namespace, databaseFile }: DevServerSettings): string[] {
  return [
    ...['server', 'start-dev'],
    ...['--ip', '127.0.0.1'],
    ...['--port', String(port)],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...['--namespace', namespace],
    ...(databaseFile === undefined ? [] : ['--db-filename', databaseFile, ...pragmas()]),
    ...['--log-level', 'error'],
    ...processors.flatMap((name) => [
      '--dynamic-config-value',
      `history.${name}MaxPollRPS=${POLLS_PER_SECOND}`,
    ]),
  ];
}

function pragmas(): string[] {
  return DURABLE.flatMap((pragma) => ['--sqlite-pragma', pragma]);
}
