/*
 * Writes docs/openapi.json, the OpenAPI document of the routes in lib/, and client/schemas.ts, the types of its
 * schemas.
 */
import './supported-node.js';

import { writeFile } from 'node:fs/promises';
import { clientTypes } from './client-types.js';

const { routes } = await import('../lib/api/app.js');
const { describeApi } = await import('../lib/api/openapi/document.js');

const write = (file, text) => writeFile(new URL(`../${file}`, import.meta.url), text);
const document = describeApi(routes);
await write('docs/openapi.json', `${JSON.stringify(document, undefined, 2)}\n`);
await write('client/schemas.ts', await clientTypes(document));
