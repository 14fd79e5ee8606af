import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { built, machine, PROJECT } from './built.js';

it('schemathesis finds nothing that the OpenAPI document does not say', async () => {
  built('build/stack/processes/stack.js');
  const child = spawn(process.execPath, ['scripts/fuzz.js', '--max-examples', '3', '--seed', '1'], {
    cwd: PROJECT,
    env: machine(),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece) => {
      output += String(piece);
    });
  }
  const [code] = await once(child, 'close');
  expect({ code, ...(code !== 0 && { output }) }).toEqual({ code: 0 });
  expect(output).toMatch(/Operations: +16 selected/);
}, 300_000);
