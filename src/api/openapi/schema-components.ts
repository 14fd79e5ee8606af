import { z } from 'zod';

/** An object of JSON. */
export interface JsonObject {
  readonly [name: string]: unknown;
}

/** The schemas that have an id, collected as others refer to them. */
export class SchemaComponents {
  readonly all: Record<string, JsonObject> = {};

  /**
   * A zod schema as JSON Schema.
   *
   * @param io which side of its transforms: what requests are made of, or what responses are
   */
  use(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
    const {
      $schema: _,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, {
      io,
      override: ({ zodSchema, jsonSchema }) => Object.assign(jsonSchema, discriminatorOf(zodSchema)),
    });
    const text = JSON.stringify({ root, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/');
    const converted = parsedSchemas.parse(JSON.parse(text, (_name, value) => tidy(value, io)));
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

/** Which field of a union's variants tells them apart, and which of its values belongs to which variant. */
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

/** One schema or a part of it, as a reader and a program need it. */
function tidy(value: unknown, io: 'input' | 'output'): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { parameter, ...schema } = { parameter: undefined, ...value } as Record<string, unknown>;
  // Fields that only another variant of the body has.
  const fields = Object.entries(schema).filter(([, field]) => JSON.stringify(field) !== '{"not":{}}');
  const tidied: Record<string, unknown> = Object.fromEntries(fields);
  // A parameter's text, of which the API reads another type.
  if (parameter instanceof Object || DATE_FORMATS.has(tidied.format)) delete tidied.pattern;
  if (parameter instanceof Object) {
    delete tidied.enum;
    Object.assign(tidied, parameter);
  }
  if (io === 'input') return tidied;
  // Responses can get further fields.
  if (tidied.additionalProperties === false) delete tidied.additionalProperties;
  return opened(tidied);
}

/**
 * A word of a response as a string: later versions can have further words, and a client that was generated from an
 * `enum` would refuse the whole response. `x-extensible-enum` is the name that the field has for the words known so
 * far.
 */
function opened({ enum: words, ...schema }: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(words)) return { ...schema, ...(words !== undefined && { enum: words }) };
  const text = typeof schema.description === 'string' ? schema.description : undefined;
  const named = words.map((word) => `\`${word}\``);
  const known = `One of ${named.join(', ')}; others can be added`;
  const isSaid = text !== undefined && named.every((word) => text.includes(word));
  const description = isSaid ? text : [text, known].filter(Boolean).join('. ');
  return { ...schema, description, 'x-extensible-enum': words };
}
