/** After all suites: stops what bundle-workflows.ts has started. */
export default async function tearDown(): Promise<void> {
  await globalThis.bookServer?.stop();
}
