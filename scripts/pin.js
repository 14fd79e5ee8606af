/*
 * Adds to each image of others, in docker-compose.yml and the Dockerfile, the digest that its registry has for its tag
 * today: `npm run pin`. A digest that is there stays; Dependabot proposes newer ones. Needs Docker with buildx, and the
 * registry.
 */
import './supported-node.js';

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** An image by its tag alone, after what names one in the files. Those called sanaga are made here. */
const BY_TAG = /^((?:\s*image: |FROM ))(?!sanaga)([\w./-]+:[\w.-]+)(?=\s|$)/gm;

for (const name of ['docker-compose.yml', 'Dockerfile']) {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const text = readFileSync(file, 'utf8');
  const pinned = text.replaceAll(BY_TAG, (_, before, image) => `${before}${image}@${digestOf(image)}`);
  if (pinned !== text) writeFileSync(file, pinned);
}

function digestOf(image) {
  const args = ['buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', image];
  const digest = execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${image} has no digest: ${digest}`);
  process.stdout.write(`${image}@${digest}\n`);
  return digest;
}
