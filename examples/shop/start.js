// Only JavaScript can say so: an older Node doesn't read TypeScript at all.
const { node } = process.versions;
if (Number.parseInt(node, 10) < 24) {
  process.stderr.write(`shop: it needs Node 24 or later, and this is Node ${node}\n`);
  process.exit(1);
}
await import('./main.ts');
