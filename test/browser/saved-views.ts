import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** A view of the Web UI's list of workflows. */
export interface SavedView {
  readonly name: string;
  readonly query: string;
}

/** The views that the operators' guide recommends. */
export async function recommendedViews(): Promise<SavedView[]> {
  const guide = await readFile(new URL('../../docs/operators.md', import.meta.url), 'utf8');
  const table = /^\| View \| Query \|\n.*\n((?:\|.*\n)+)/m.exec(guide)?.[1] ?? '';
  return [...table.matchAll(/^\| (.+?) \| `(.+?)` \|$/gm)].map(([, name = '', query = '']) => ({
    name,
    query,
  }));
}

/** Searches for a query as a person does, and saves it as a view of this browser. */
export async function saveView(page: Page, uiUrl: string, { name, query }: SavedView): Promise<void> {
  await page.goto(`${uiUrl}/namespaces/default/workflows`);
  await page.getByRole('button', { name: 'Last Hour' }).waitFor();
  await page.getByTestId('toggle-manual-query').click();
  await page.locator('#query').fill(query);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Save as New' }).click();
  const dialog = page.locator('dialog[open]');
  await dialog.locator('input').fill(name);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
}
