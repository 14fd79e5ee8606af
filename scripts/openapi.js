/* Writes docs/openapi.json, the OpenAPI document of the routes in lib/. */
import './supported-node.js';

import { writeFile } from 'node:fs/promises';

const { routes } = await import('../lib/api/app.js');
const { describeApi } = await import('../lib/api/openapi.js');

const file = new URL('../docs/openapi.json', import.meta.url);
await writeFile(file, `${JSON.stringify(describeApi(routes), undefined, 2)}\n`);
