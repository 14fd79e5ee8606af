/*
 * Ends the process in a sentence when its Node is too old. What else a program is made of can't even be linked there,
 * so a program imports this statically, and the rest with `import()`. `npm run build` puts it before each program that
 * it compiles.
 */
const NEEDED = 24;

const { node } = process.versions;
if (Number.parseInt(node, 10) < NEEDED) {
  process.stderr.write(
    `Sanaga needs Node ${NEEDED} or later, and this is Node ${node} (${process.execPath}). ` +
      "In the project's folder, npm run and npx use the one that npm ci brings; with npm 10, run npm rebuild first.\n",
  );
  process.exit(1);
}
