/*
 * Prints the packages that production has, as a CycloneDX document. npm makes the list of all packages from the lock
 * file; those for development are taken out here, because `npm sbom --omit dev` also leaves out what both need.
 */
import './supported-node.js';

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const all = JSON.parse(
  execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
);

const isForDevelopment = ({ properties = [] }) => properties.some(({ name }) => name === 'cdx:npm:package:development');

const components = all.components.filter((component) => !isForDevelopment(component));
const kept = new Set([all.metadata.component, ...components].map((component) => component['bom-ref']));
const dependencies = all.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));

process.stdout.write(`${JSON.stringify({ ...all, components, dependencies }, null, 2)}\n`);
