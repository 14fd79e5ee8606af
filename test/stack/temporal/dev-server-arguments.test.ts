import { describe, expect, it } from '@jest/globals';
import { devServerArguments } from '../../../stack/temporal/dev-server-arguments.js';

describe("the dev server's arguments", () => {
  it('keep it on this machine, without Web UI and in memory unless told otherwise', () => {
    const args = devServerArguments({ port: 7000, namespace: 'default' }).join(' ');

    expect(args).toMatch(/^server start-dev --ip 127\.0\.0\.1 --port 7000 --headless --namespace default /);
    expect(args).not.toContain('--db-filename');
  });

  it('name the Web UI port and the database file', () => {
    const args = devServerArguments({ port: 1, uiPort: 2, namespace: 'n', databaseFile: '/state/t.db' });

    expect(args.join(' ')).toContain('--ui-port 2 --namespace n --db-filename /state/t.db');
    expect(args).not.toContain('--headless');
  });

  it('have a database file written to the disk before anything is answered', () => {
    const args = devServerArguments({ port: 1, namespace: 'n', databaseFile: '/state/t.db' }).join(' ');

    expect(args).toContain('--sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=FULL');
    expect(devServerArguments({ port: 1, namespace: 'n' })).not.toContain('--sqlite-pragma');
  });

  it('let every processor of the single shard look for tasks without delay', () => {
    const args = devServerArguments({ port: 1, namespace: 'n' });

    for (const processor of ['transfer', 'timer', 'visibility']) {
      expect(args).toContain(`history.${processor}ProcessorMaxPollRPS=2000`);
    }
  });
});
