import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { fromJson, toJson } from '../../src/book/versioned-json.js';

const schema = z.looseObject({ phone: z.string(), tries: z.array(z.object({ at: z.number() })) });
const content = { phone: '677000205', tries: [{ at: 1 }] };

describe('what is kept as JSON', () => {
  it('says its version, and is read as it was written', () => {
    expect(JSON.parse(toJson(content))).toEqual({ v: 1, ...content });
    expect(fromJson(toJson(content), schema)).toEqual(content);
  });

  it('keeps what only another release knows', () => {
    expect(fromJson(toJson({ ...content, later: true }), schema)).toEqual({ ...content, later: true });
  });

  it('is refused in another version, which the error names, with what to do', () => {
    expect(() => fromJson(JSON.stringify({ ...content, v: 2 }), schema)).toThrow(
      expect.objectContaining({
        name: 'UnreadableRecordError',
        message:
          'It was written in version 2, and this release reads version 1. Read it with the release that wrote it, or a later one.',
      }),
    );
  });

  it.each([
    ['no JSON', '{"v":1,"phone":"677000205"', 'it is no JSON'],
    ['no version', JSON.stringify(content), 'v: '],
    ['a field of another type', toJson({ ...content, tries: [{ at: 'noon' }] }), 'tries.0.at: '],
    ['a field missing', toJson({ phone: '677000205' }), 'tries: '],
    ['another thing than an object', '["677000205"]', ': '],
  ])('is refused with %s, by an error that says where and quotes nothing', (_, json, where) => {
    const read = () => fromJson(json, schema);
    expect(read).toThrow(/^It is damaged: .*Restore it from a backup/);
    expect(read).toThrow(where);
    expect(read).not.toThrow(/677000205|noon/);
  });
});
