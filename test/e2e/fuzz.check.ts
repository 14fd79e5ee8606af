import { expect, it } from '@jest/globals';
import { built, machine, runToEnd } from '../support/built.js';

it('schemathesis finds nothing that the OpenAPI document does not say', async () => {
  built('build/stack/processes/stack.js');
  const args = ['--max-examples', '3', '--seed', '1'];
  const { code, stdout, stderr } = await runToEnd('scripts/fuzz.js', args, machine());
  expect({ code, ...(code !== 0 && { stdout, stderr }) }).toEqual({ code: 0 });
  expect(stdout).toMatch(/Operations: +29 selected/);
});
