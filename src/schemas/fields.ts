import { z } from 'zod';

/**
 * The fields that schemas of responses are made of. The OpenAPI document shows the schemas, the compiler compares them
 * with the types of payments and with what handlers return, and tests check every response against them. Production
 * doesn't: nothing is gained by withholding a response.
 */

/** A type as it is on the wire: an id is a string. */
export type Wire<T> = T extends { readonly __brand: string }
  ? string
  : T extends object
    ? { [Key in keyof T]: Wire<T[Key]> }
    : T;

/** One schema for each field of a type, optional ones too. */
type FieldSchemas<T> = { readonly [Key in keyof T]-?: z.ZodType<Wire<T[Key]>> };

/** The schemas that accept every value of their field; `never` in place of others, and for what isn't a field. */
type Complete<T, Schemas> = {
  [Key in keyof Schemas]: Key extends keyof T
    ? Wire<T[Key]> extends z.output<Schemas[Key]>
      ? Schemas[Key]
      : never
    : never;
};

/**
 * Makes the schema of a type. It compiles only with exactly the type's fields, each with a schema that accepts no more
 * and no less than the field can be.
 *
 * @example schemaOf<PaymentReview>()({ number: z.int(), since: time, decideFrom: time })
 */
export function schemaOf<T extends object>() {
  return <Schemas extends FieldSchemas<T>>(fields: Schemas & Complete<T, Schemas>) => z.object(fields as Schemas);
}

export const time = z.string().meta({ format: 'date-time' });
export const described = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  schema.meta({ description });
export const xaf = (description: string) => described(z.int(), `${description}, in XAF`);
