import { describe, expect, it } from '@jest/globals';
import { exploreBeginnings } from '../../../lab/explore/beginnings.js';

describe('payments by link, begun by two processes', () => {
  it('break no rule in any story of four steps, nor in random longer ones', async () => {
    const { stories, broken } = await exploreBeginnings({ steps: 4, walks: 20_000 });
    expect(stories).toBeGreaterThan(5_000);
    expect(broken).toEqual([]);
  });

  it.each([
    ['forgets its links', { forgets: true }, 'no two links are given'],
    ['expires nothing', { expiresNothing: true }, 'a link that nobody was given'],
    ['begins nothing that was lost', { wakesNothing: true }, 'a notification that is acknowledged'],
  ])('break one when a process %s', async (_, mutant, rule) => {
    const { broken } = await exploreBeginnings({ steps: 0, walks: 50_000 }, mutant);
    expect(broken).toContainEqual(expect.stringContaining(rule));
  });
});
