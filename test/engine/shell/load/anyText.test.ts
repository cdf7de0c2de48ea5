import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../../src/engine/core/domain/policy.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { runs } from '../../../support/runs.ts';
import { desk, folderOf } from './domainFolder.ts';

const piece = fc.constantFrom(
  'id: a\n',
  '- ',
  '  ',
  '\n',
  'persona: plain\n',
  'user:\n',
  '  goal: x\n',
  '{',
  '}',
  '[',
  ']',
  '"',
  '*a',
  '&a ',
  '# ',
  '{#a}',
  ': ',
  '\t',
  '|\n',
  '1. ',
  '> ',
  '```\n',
  'é',
  '__proto__: 1\n',
  '? ',
  'constructor: 1\n',
);
const text = fc
  .array(fc.oneof({ weight: 5, arbitrary: piece }, fc.string({ maxLength: 4 })), { maxLength: 25 })
  .map((parts) => parts.join(''));

describe('any text at all', () => {
  it('in any file gives findings with a place and a sentence, and never an exception', () => {
    const folder = folderOf(desk);
    const names = Object.keys(desk);
    fc.assert(
      fc.property(fc.constantFrom(...names), text, (name, content) => {
        const { diagnostics } = loadDomain(folder, { overlay: new Map([[join(folder, name), content]]) });
        for (const { file, line, column, endLine, message, hint } of diagnostics) {
          expect(file.startsWith(folder)).toBe(true);
          expect([line >= 1, column >= 1, endLine >= line]).toEqual([true, true, true]);
          expect(line).toBeLessThanOrEqual(
            (file.endsWith(name) ? content : String(desk[file.slice(folder.length + 1)])).split('\n').length,
          );
          expect([message, hint]).toEqual([expect.stringMatching(/\S{2}/), expect.stringMatching(/\S{2}/)]);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it('is a policy whose parsed text has no marks of rules', () => {
    fc.assert(
      fc.property(text, (source) => {
        const { policy } = parsePolicy(source);
        expect(new Set(policy.rules.map(({ id }) => id)).size).toBe(policy.rules.length);
        expect(parsePolicy(policy.text).policy.rules).toEqual([]);
        for (const { line, endLine } of policy.rules) expect(line).toBeLessThanOrEqual(endLine);
      }),
      { numRuns: runs(250) },
    );
  });

  it('even if it is very deeply nested', () => {
    const deep = { ...desk, 'tasks/first.task.yaml': `${'['.repeat(20_000)}${']'.repeat(20_000)}\n` };
    const { diagnostics } = loadDomain(folderOf(deep));
    expect(diagnostics.map(({ code }) => code)).toEqual(['task/too-deep']);
  });
});
