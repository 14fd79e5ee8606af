/** Strings, which may hold any other token, and the marks that structure is made of. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** Fields named in an answer, and how much of each one's name. */
const MAX_FIELDS = 20;
const MAX_NAME_LENGTH = 60;

/** An object or a list that is open at a point of the text. */
interface Open {
  /** Where its fields are, with a dot at the end; empty for the body's own. */
  readonly path: string;
  /** Names seen so far; none in a list. */
  readonly names: Set<string>;
  /** Where the fields of the object are that opens next within it. */
  next: string;
}

/**
 * The fields that an object within the text has more than once, each by its path, such as `metadata.colour`. JSON.parse
 * takes the last of them without a word.
 *
 * @param json text that JSON.parse has read
 * @example repeatedFields('{"amount": 500, "\\u0061mount": 600}') // ['amount']
 */
export function repeatedFields(json: string): string[] {
  const repeated = new Set<string>();
  const open: Open[] = [];
  let last = '';
  for (const [token] of json.matchAll(TOKENS)) {
    const within = open.at(-1);
    if (token === '{' || token === '[') {
      const path = within?.next ?? '';
      open.push({ path, names: new Set(), next: path });
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token !== ':') {
      last = token;
    } else if (within !== undefined) {
      // Names are compared as they are read: each letter can also be written as an escape.
      const name = String(JSON.parse(last));
      const field = within.path + name.slice(0, MAX_NAME_LENGTH);
      if (within.names.has(name)) repeated.add(field);
      within.names.add(name);
      within.next = `${field}.`;
    }
  }
  return [...repeated].slice(0, MAX_FIELDS);
}
