import { expect, test } from 'vitest';
import { exampleArguments } from '../../../../src/authoring/domains/exampleArguments.ts';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import { argumentProblems, schemaProblem } from '../../../../src/engine/shell/load/arguments.ts';
import { unsupportedPatterns } from '../../../../src/engine/shell/load/schemaPatterns.ts';

const bomb = '^(a|a)*$';
const schema = (code: JsonObject): JsonObject => ({ type: 'object', properties: { code }, required: ['code'] });
const tool = (parameters: JsonObject) => ({ name: 'look', description: 'Looks.', parameters }) as Tool;
const text = `${'a'.repeat(60)}!`;

// A backtracking matcher would need years for each of these texts.
test('a catastrophic pattern of a schema ends and still checks', () => {
  const look = tool({ ...schema({ type: 'string', pattern: bomb }), patternProperties: { '^(x+)+y$': {} } });
  expect(argumentProblems(look, { code: text, ['x'.repeat(60)]: 1 })).toHaveLength(1);
  expect(argumentProblems(look, { code: 'aaa' })).toEqual([]);
  exampleArguments(tool(schema({ type: 'string', pattern: bomb, default: null, minLength: 60 })));
});

test('a pattern that does not run in linear time is named with its place, and checks nothing', () => {
  const parameters = {
    ...schema({ type: 'string', pattern: '(?=a)b' }),
    patternProperties: { '(a)\\1': { items: { pattern: '(?<!a)' } } },
    default: { pattern: '(?=no schema)' },
  };
  expect(schemaProblem(parameters)).toBeNull();
  expect(argumentProblems(tool(parameters), { code: 'c' })).toEqual([]);
  expect(unsupportedPatterns(parameters).map(({ path }) => path.join('/'))).toEqual([
    'properties/code/pattern',
    'patternProperties/(a)\\1',
    'patternProperties/(a)\\1/items/pattern',
  ]);
});

test('a property that is called pattern is not a pattern', () => {
  expect(unsupportedPatterns({ type: 'object', properties: { pattern: { const: '(?=a)' } } })).toEqual([]);
});
