import { describe, expect, it } from '@jest/globals';
import { cacheFolder } from '../../../stack/temporal/cache-folder.js';

describe('the cache folder', () => {
  it.each([
    [{ HOME: '/home/ada' }, '/home/ada/.cache/sanaga'],
    [{ HOME: '/home/ada', XDG_CACHE_HOME: '/var/cache' }, '/var/cache/sanaga'],
    [{ HOME: '/home/ada', XDG_CACHE_HOME: '' }, '/home/ada/.cache/sanaga'],
    [{ HOME: '/home/ada', XDG_CACHE_HOME: 'relative' }, '/home/ada/.cache/sanaga'],
  ])('with %j is %s', (env, folder) => {
    expect(cacheFolder(env)).toBe(folder);
  });
});
