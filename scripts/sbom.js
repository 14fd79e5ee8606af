/*
 * Prints the packages that production has, as a CycloneDX document. npm makes the list of all packages from the lock
 * file; those for development are taken out here, because `npm sbom --omit dev` also leaves out what both need. The one
 * package that is in the sources is added.
 */
import './supported-node.js';

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const all = JSON.parse(
  execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
);

/** src/api/rapidoc. The digest is the one of npm's package. */
const rapidoc = {
  'bom-ref': 'rapidoc@9.3.8',
  type: 'library',
  name: 'rapidoc',
  version: '9.3.8',
  purl: 'pkg:npm/rapidoc@9.3.8',
  licenses: [{ license: { id: 'MIT' } }],
  hashes: [
    {
      alg: 'SHA-512',
      content:
        '7826046ebd57afc38966f542c3c49797dcc1091a0b25b84d1ae1b92194c7abf45600eabf3b831a7d40ae144c991ecae12eb95470664c6bae29ca1a626fc7d029',
    },
  ],
};

const isForDevelopment = ({ properties = [] }) => properties.some(({ name }) => name === 'cdx:npm:package:development');

// npm takes the name of the folder.
const component = { ...all.metadata.component, type: 'application', name };

const components = [...all.components.filter((one) => !isForDevelopment(one)), rapidoc];
const kept = new Set([component, ...components].map((one) => one['bom-ref']));
const dependencies = [...all.dependencies, { ref: rapidoc['bom-ref'] }]
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));

process.stdout.write(
  `${JSON.stringify({ ...all, metadata: { ...all.metadata, component }, components, dependencies }, null, 2)}\n`,
);
