import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A temporary folder for one test, with executables in it that a test writes itself. */
export interface ScratchFolder {
  readonly path: string;
  /** Writes a shell script and returns its path. */
  script(name: string, body: string): Promise<string>;
  remove(): Promise<void>;
}

export async function makeScratchFolder(): Promise<ScratchFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sanaga-test-'));
  return {
    path,
    async script(name, body) {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `#!/bin/sh\n${body}\n`);
      await chmod(file, 0o755);
      return file;
    },
    remove: async () => await rm(path, { recursive: true, force: true }),
  };
}

/** Prints the version as a Temporal CLI does. */
export const saysVersion = (server = '1.29.1') => `echo "temporal version 1.5.1 (Server ${server}, UI 2.42.1)"`;

/** A `go` that takes some seconds to build a CLI of which only the version works. */
export const goThatBuilds = (seconds = 0) =>
  `sleep ${seconds}; echo '#!/bin/sh' > "$GOBIN/temporal"; echo '${saysVersion()}' >> "$GOBIN/temporal"; chmod +x "$GOBIN/temporal"`;
