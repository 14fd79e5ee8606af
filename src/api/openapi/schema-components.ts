import { z } from 'zod';

/** An object of JSON. */
export interface JsonObject {
  readonly [name: string]: unknown;
}

/** The part of a request or a response that a schema describes. */
type Part = 'body' | 'parameters' | 'response';

/** Converts schemas to JSON Schema, and collects those that have an id. */
export class SchemaComponents {
  readonly all: Record<string, JsonObject> = {};

  /**
   * Converts a zod schema to JSON Schema.
   *
   * @param part of a request (its body or its parameters) or a response: the side of its transforms follows
   * @throws {Error} when another schema has its id, or that of a part of it.
   */
  use(schema: z.ZodType, part: Part): JsonObject {
    const {
      $schema: _,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, {
      io: part === 'response' ? 'output' : 'input',
      override: ({ zodSchema, jsonSchema }) => Object.assign(jsonSchema, discriminatorOf(zodSchema)),
    });
    const text = JSON.stringify({ root, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/');
    const converted = parsedSchemas.parse(JSON.parse(text, (_name, value) => tidy(value, part)));
    for (const [id, component] of Object.entries(converted.$defs)) {
      const known = this.all[id];
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(component)) {
        throw new Error(`two schemas have the id ${id}`);
      }
      this.all[id] = component;
    }
    return converted.root;
  }
}

/** Names the field that tells a union's variants apart, and the variant of each of its values. */
function discriminatorOf(schema: z.core.$ZodTypes): JsonObject {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return {};
  const { def } = schema;
  const mapping = def.options.flatMap((option) => {
    const { id } = z.globalRegistry.get(option) ?? {};
    const values = [...(option._zod.propValues?.[def.discriminator] ?? [])];
    return id === undefined ? [] : values.map((value) => [String(value), `#/components/schemas/${id}`]);
  });
  return { discriminator: { propertyName: def.discriminator, mapping: Object.fromEntries(mapping) } };
}

const jsonObject = z.record(z.string(), z.unknown());
const parsedSchemas = z.object({ root: jsonObject, $defs: z.record(z.string(), jsonObject) });

const DATE_FORMATS = new Set<unknown>(['date-time', 'date']);

/** Removes keywords that tell callers nothing from a part of a schema. */
function tidy(value: unknown, part: Part): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { parameter, ...schema } = { parameter: undefined, ...value } as Record<string, unknown>;
  // Fields of the body's other variants.
  const fields = Object.entries(schema).filter(([, field]) => JSON.stringify(field) !== '{"not":{}}');
  const tidied: Record<string, unknown> = Object.fromEntries(fields);
  // The API reads a parameter's text as another type.
  if (parameter instanceof Object || DATE_FORMATS.has(tidied.format)) delete tidied.pattern;
  // A field that has a default is required in openapi-typescript's types, and where it is a union, openapi-generator's
  // Go doesn't compile.
  if (part === 'body') delete tidied.default;
  if (parameter instanceof Object) {
    delete tidied.enum;
    Object.assign(tidied, parameter);
  }
  if (part !== 'response') return tidied;
  // Later versions add fields to responses.
  if (tidied.additionalProperties === false) delete tidied.additionalProperties;
  // A list that only our own code must not change is no field that callers may not send, as in a notification's body.
  delete tidied.readOnly;
  return openWords(tidied);
}

/**
 * Turns an enum in a response into a string with `x-extensible-enum`, which lists the words known so far: a client
 * generated from an `enum` would refuse a word that a later version adds.
 */
function openWords({ enum: words, ...schema }: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(words)) return { ...schema, ...(words !== undefined && { enum: words }) };
  const text = typeof schema.description === 'string' ? schema.description : undefined;
  const named = words.map((word) => `\`${word}\``);
  const known = `One of ${named.join(', ')}; others can be added`;
  const isSaid = text !== undefined && named.every((word) => text.includes(word));
  const description = isSaid ? text : [text, known].filter(Boolean).join('. ');
  return { ...schema, description, 'x-extensible-enum': words };
}
