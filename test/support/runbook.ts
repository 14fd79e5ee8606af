import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { built } from './built.js';
import { type Block, type Page, parsePage, readPage } from './pages.js';
import { Shell } from './shell.js';

/** The operators' pages, followed by tests. */

const runbook = await readPage('docs/operations/runbook.md');

/**
 * The one block of commands that matches, of the whole page or of a chapter.
 *
 * @param page by default, the runbook
 * @throws Error when it isn't one
 */
export function commandsOf(pattern: RegExp, chapter?: string, page = runbook): string {
  const found = blocksOf(page, chapter).filter(({ language, text }) => language === 'sh' && pattern.test(text));
  const [block, ...others] = found;
  if (block === undefined || others.length > 0) throw new Error(`${found.length} blocks match ${pattern}`);
  return block.text;
}

function blocksOf(page: Page, chapter: string | undefined): readonly Block[] {
  if (chapter === undefined) return page.blocks;
  const text = page.text.split(/^## /m).find((each) => each.startsWith(`${chapter}\n`));
  if (text === undefined) throw new Error(`${page.path} has no chapter "${chapter}"`);
  return parsePage(page.path, text).blocks;
}

/** In the place of docker-compose: what it would run in its containers runs here. */
const COMPOSE = `as_postgres() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi; }
setting() { sed -n "s/^$1=//p" .env; }
docker-compose() {
  case "$*" in
    'exec -T postgres '*) shift 3; "$@" ;;
    'exec -T backup pgbackrest '*) shift 3; as_postgres "$@" ;;
    'run --rm --no-deps -T --user postgres --entrypoint pgbackrest postgres '*) shift 9; as_postgres pgbackrest "$@" ;;
    'run --rm --no-deps -T --entrypoint pgbackrest backup '*) shift 7; as_postgres pgbackrest "$@" ;;
    'run --rm --no-deps -T --entrypoint ldd postgres '*) shift 7; ldd "$@" ;;
    'run --rm --no-deps -T temporal-schema')
      SQL_HOST=$PGHOST SQL_PORT=$PGPORT SQL_USER=$PGUSER SQL_PASSWORD= sh '${built('deploy/temporal-schema.sh')}' 2>&1 ;;
    'pull '* | 'build '*) ;;
    'run --rm --no-deps -T book-database')
      PROVIDER_COLLECTION_URL=$(setting PROVIDER_COLLECTION_URL) PROVIDER_PAYOUT_URL=$(setting PROVIDER_PAYOUT_URL) \\
      PGPASSWORD=$(setting POSTGRES_PASSWORD) BOOK_PASSWORD=$(setting BOOK_PASSWORD) sh '${built('deploy/book-database.sh')}' ;;
    'run --rm --no-deps -T --entrypoint temporal temporal-setup '*) shift 7; command temporal "$@" ;;
    'run --rm --no-deps -T worker node lib/payers.js '*) shift 7; '${process.execPath}' '${built('lib/payers.js')}' "$@" ;;
    'run --rm --no-deps -T migrate') '${process.execPath}' '${built('lib/migrate.js')}' ;;
    'run --rm --no-deps -T worker node lib/replay.js') '${process.execPath}' '${built('lib/replay.js')}' ;;
    *) echo "docker-compose $*" >&2; return 1 ;;
  esac
}`;

/** The services of docker-compose.yml, as far as a test has them. */
export interface Services {
  stop(names: readonly string[]): Promise<void>;
  start(names: readonly string[]): Promise<void>;
  /** Makes them anew, with the settings of .env as they are now. */
  up(names: readonly string[]): Promise<void>;
}

/** An operator's terminal, in which the runbook is followed. */
export class OperatorsShell {
  readonly #shell: Shell;

  /**
   * @param scratch a folder of its own, in the place of docker-compose.yml's: it gets an .env, and what the commands
   * write
   */
  constructor(
    scratch: string,
    env: NodeJS.ProcessEnv,
    private readonly services: Services,
  ) {
    copyFileSync(built('.env.example'), join(scratch, '.env'));
    this.#shell = new Shell(scratch, env, scratch);
  }

  /**
   * Runs commands as they stand there, and has services stopped, started and made anew where they say so.
   *
   * @returns what they have printed
   * @throws Error when one fails, or complains
   */
  async follow(commands: string): Promise<string> {
    let printed = '';
    for (const part of commands.split(/^(docker-compose (?:stop|start|up) .*)$/m)) {
      const [, verb, words = ''] = /^docker-compose (stop|start|up) (.*)$/.exec(part) ?? [];
      const names = words.split(' ').filter((word) => !word.startsWith('-'));
      if (verb === 'stop' || verb === 'start' || verb === 'up') await this.services[verb](names);
      else printed += await this.#run(part);
    }
    return printed;
  }

  async #run(script: string): Promise<string> {
    const { failures, stdout, stderr } = await this.#shell.run(`${COMPOSE}\n${script}`);
    const complaints = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('NOTICE:'));
    if (failures.length + complaints.length > 0) throw new Error([...failures, ...complaints].join('\n'));
    return stdout;
  }

  close(): Promise<void> {
    return this.#shell.close();
  }
}
