// Only JavaScript can say so: an older Node doesn't read TypeScript at all.
const { node } = process.versions;
if (Number.parseInt(node, 10) < 24) {
  process.stderr.write(`shop: it needs Node 24 or later, and this is Node ${node}\n`);
  process.exit(1);
}
// Without a listener, SIGUSR1 has Node open its inspector, which shows the shop's secrets, and the others end it.
for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGHUP']) process.on(signal, () => undefined);
await import('./main.ts');
