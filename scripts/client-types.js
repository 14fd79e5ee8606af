/*
 * The types of the client, made from the schemas of the OpenAPI document. openapi-typescript puts all of them into one
 * interface, `components`; here each becomes an interface or a type of its own, so that an editor shows its name.
 */
import './supported-node.js';

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

/** The client's names for schemas, where they differ from the API's. */
const NAMES = {
  ApprovalRequest: 'ApprovalParams',
  CollectionRequest: 'CollectionParams',
  Delivery: 'NotificationDelivery',
  DirectCollectionRequest: 'DirectParams',
  Event: 'PaymentEvent',
  LinkCollectionRequest: 'LinkParams',
  MatchRequest: 'MatchParams',
  PayoutRequest: 'PayoutParams',
  RefundRequest: 'RefundParams',
  Problem: 'ProblemDocument',
  RejectionRequest: 'RejectionParams',
  ResendOrFailRequest: 'ResendOrFailParams',
  UnacknowledgedNotificationList: 'UnacknowledgedPage',
};

/** Schemas of calls that the client doesn't make, or whose answers it doesn't return as they are. */
const LEFT_OUT = new Set([
  'Key',
  'NotificationList',
  'ProviderList',
  'ProviderRecords',
  'ProviderStatus',
  'ProviderTransaction',
  'ResolutionRequest',
  'ReviewPage',
  'StatementRequest',
  'Timeline',
  'UnmatchedNotificationList',
]);

const { factory } = ts;
const EXPORTED = [factory.createModifier(ts.SyntaxKind.ExportKeyword)];

const HEAD = `/* Made from docs/openapi.json by \`npm run openapi\`: change the schemas in src/schemas instead. */

/** A word of an answer: one of those, or one that a later version has added. */
export type Open<Known extends string> = Known | (string & {});

`;

/** The text of client/schemas.ts. */
export async function clientTypes(document) {
  const { schemas } = document.components;
  const needed = Object.entries(schemas).filter(([name]) => !LEFT_OUT.has(name));
  const parts = { openapi: document.openapi, info: document.info, components: { schemas: Object.fromEntries(needed) } };
  const nodes = await openapiTS(JSON.parse(JSON.stringify(parts), simplify), { immutable: true, transform: openWords });
  const declarations = membersOf(nodes, 'components', 'schemas').map((member) => astToString([declare(member)]));
  const text = declarations
    .join('\n')
    .replace(/components\["schemas"\]\["(\w+)"\]/g, (_, name) => nameOf(name))
    .replaceAll('@description ', '')
    // What the type says, and how openapi-typescript indents a comment's further lines.
    .replace(/^ *(?:\/\*\* @(?:constant|enum \{string\}) \*\/|\* @(?:constant|enum \{string\}))\n/gm, '')
    .replace(/^( *\*) {5}/gm, '$1 ');
  return format(HEAD + text);
}

const nameOf = (schema) => NAMES[schema] ?? schema;

/** Leaves out what a type says or can't say, and wraps descriptions. Called with each part of the document. */
function simplify(name, value) {
  if (name === 'description' && typeof value === 'string') {
    const text = value.replace(/(?:^|\. )One of `.*; others can be added$/, '');
    return text === '' ? undefined : text.replace(/(.{1,108})(?:\s+|$)/g, '$1\n').trim();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { default: _, discriminator, ...schema } = value;
  if (typeof value.type !== 'string') return schema;
  const { allOf, examples, format, ...rest } = schema;
  return rest;
}

/** Words that can grow, as `Open<…>`. */
function openWords({ 'x-extensible-enum': words }) {
  if (words === undefined) return undefined;
  const literals = words.map((word) => factory.createLiteralTypeNode(factory.createStringLiteral(word)));
  return factory.createTypeReferenceNode('Open', [factory.createUnionTypeNode(literals)]);
}

/** The members of an interface, or of the member that the rest of the path leads to. */
function membersOf(nodes, name, ...path) {
  const found = nodes.find((node) => node.name?.text === name);
  const members = found.members ?? found.type.members;
  return path.length === 0 ? members : membersOf(members, ...path);
}

function declare(member) {
  const name = nameOf(member.name.text);
  const declared = ts.isTypeLiteralNode(member.type)
    ? factory.createInterfaceDeclaration(EXPORTED, name, [], [], member.type.members)
    : factory.createTypeAliasDeclaration(EXPORTED, name, [], member.type);
  return ts.setSyntheticLeadingComments(declared, ts.getSyntheticLeadingComments(member));
}

function format(text) {
  const biome = fileURLToPath(new URL('../node_modules/@biomejs/biome/bin/biome', import.meta.url));
  const formatter = spawnSync(process.execPath, [biome, 'format', '--stdin-file-path=client/schemas.ts'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    input: text,
  });
  if (formatter.status !== 0) throw new Error(formatter.stderr);
  return formatter.stdout;
}
