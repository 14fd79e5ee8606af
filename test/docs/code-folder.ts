import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT } from '../support/built.js';

/** Makes a folder with the packages that the examples of the documentation use. */
export async function codeFolder(folder: string): Promise<string> {
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  const packages = ['express', 'standardwebhooks', '@types'];
  const links = [
    ...packages.map((one) => [join(PROJECT, 'node_modules', one), one] as const),
    [join(PROJECT, 'dist'), 'sanaga'] as const,
  ];
  for (const [target, one] of links) {
    await symlink(target, join(folder, 'node_modules', one)).catch((error: unknown) => {
      if (!String(error).includes('EEXIST')) throw error;
    });
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  return folder;
}
