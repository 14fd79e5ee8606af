/* Writes docs/openapi.json, the OpenAPI document of the routes in lib/. */
import { writeFile } from 'node:fs/promises';
import { routes } from '../lib/api/app.js';
import { describeApi } from '../lib/api/openapi.js';

const file = new URL('../docs/openapi.json', import.meta.url);
await writeFile(file, `${JSON.stringify(describeApi(routes), undefined, 2)}\n`);
