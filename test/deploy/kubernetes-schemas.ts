import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/*
 * JSON schemas for kubeconform, made from what Kubernetes and the makers of custom resources publish in their own
 * sources: the usual way is to download them from a site that has converted them.
 */

/** A schema of JSON or OpenAPI, of which no more is known here. */
type Schema = Readonly<Record<string, unknown>>;

const openApi = z.object({
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
});

const kinds = z.array(z.object({ group: z.string(), version: z.string(), kind: z.string() }));

const customResource = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ kind: z.string() }),
    versions: z.array(
      z.object({
        name: z.string(),
        schema: z.object({ openAPIV3Schema: z.record(z.string(), z.unknown()) }),
      }),
    ),
  }),
});

/** As kubeconform looks for it: `deployment-apps-v1.json`. */
const fileName = (kind: string, group: string, version: string) =>
  `${[kind, ...(group === '' ? [] : [group.split('.')[0]]), version].join('-').toLowerCase()}.json`;

/** Writes schemas from the source of Kubernetes into the folder. */
export async function writeKubernetesSchemas(source: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const specifications = join(source, 'api/openapi-spec/v3');
  for (const name of await readdir(specifications)) {
    const text = await readFile(join(specifications, name), 'utf8');
    const read = openApi.safeParse(JSON.parse(text));
    if (!read.success) continue;
    const schemas = Object.fromEntries(
      Object.entries(read.data.components.schemas).map(([key, schema]) => [key, closed(schema)]),
    );
    for (const [key, schema] of Object.entries(schemas)) {
      const known = kinds.safeParse(schema['x-kubernetes-group-version-kind']).data ?? [];
      const [only] = known;
      // What several groups share, such as DeleteOptions, isn't deployed.
      if (only === undefined || known.length > 1) continue;
      const whole = { $ref: `#/components/schemas/${key}`, components: { schemas } };
      await writeFile(join(folder, fileName(only.kind, only.group, only.version)), JSON.stringify(whole));
    }
  }
}

/** Writes the schema from the definition of a custom resource into the folder. */
export async function writeCustomResourceSchema(definition: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { group, names, versions } = customResource.parse(parse(await readFile(definition, 'utf8'))).spec;
  for (const { name, schema } of versions) {
    const closedSchema = closed(schema.openAPIV3Schema);
    await writeFile(
      join(folder, fileName(names.kind, group, name)),
      JSON.stringify({ ...closedSchema, properties: { ...asSchema(closedSchema.properties), metadata: {} } }),
    );
  }
}

/** The schema, in which an object with known fields has no others: a mistyped one is a mistake. */
function closed(schema: Schema): Schema {
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedValue(value)]));
  const isOpen =
    !('properties' in schema) ||
    'additionalProperties' in schema ||
    schema['x-kubernetes-preserve-unknown-fields'] === true;
  return isOpen ? inner : { ...inner, additionalProperties: false };
}

function closedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedValue);
  return typeof value === 'object' && value !== null ? closed(asSchema(value)) : value;
}

const asSchema = (value: unknown): Schema => z.record(z.string(), z.unknown()).parse(value);
