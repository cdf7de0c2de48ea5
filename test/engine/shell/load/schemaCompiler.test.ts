import { expect, it } from 'vitest';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import type { Json, JsonObject } from '../../../../src/engine/core/values/json.ts';
import { argumentProblems, misfitOf, schemaProblem } from '../../../../src/engine/shell/load/arguments.ts';
import { sentArguments } from '../../../../src/engine/shell/load/exactErrors.ts';
import { unsupportedPatterns } from '../../../../src/engine/shell/load/schemaPatterns.ts';

const draft = (name: string) => ({ $schema: `http://json-schema.org/${name}/schema#` });
const year = (name: string) => ({ $schema: `https://json-schema.org/draft/${name}/schema` });
const ofA = (a: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties: { a }, ...more });
const tuple = { type: 'array', items: [{ type: 'number' }, { type: 'string' }] };
const positive = { type: 'number', minimum: 0, exclusiveMinimum: true };
const problemsOf = (parameters: JsonObject, args: JsonObject) =>
  argumentProblems({ name: 'look', description: '', parameters } as Tool, args);

it.each<[string, JsonObject, JsonObject, JsonObject]>([
  ['a tuple of draft 7', ofA(tuple, draft('draft-07')), { a: [1, 'x'] }, { a: ['x', 1] }],
  ['a tuple of draft 6', ofA(tuple, draft('draft-06')), { a: [1, 'x'] }, { a: ['x', 1] }],
  ['a tuple of draft 4', ofA(tuple, draft('draft-04')), { a: [1, 'x'] }, { a: ['x', 1] }],
  ['a tuple of 2019-09', ofA(tuple, year('2019-09')), { a: [1, 'x'] }, { a: ['x', 1] }],
  ['a tuple of an older draft without $schema', ofA(tuple), { a: [1, 'x'] }, { a: ['x', 1] }],
  ['a tuple of an older draft in 2020-12', ofA(tuple, year('2020-12')), { a: [1, 'x'] }, { a: ['x', 1] }],
  ['a tuple of 2020-12', ofA({ type: 'array', prefixItems: tuple.items }), { a: [1, 'x'] }, { a: ['x', 1] }],
  ['exclusiveMinimum of draft 4', ofA(positive, draft('draft-04')), { a: 1 }, { a: 0 }],
  ['exclusiveMinimum of draft 4 without $schema', ofA(positive), { a: 1 }, { a: 0 }],
  ['exclusiveMinimum of draft 4 in draft 7', ofA(positive, draft('draft-07')), { a: 1 }, { a: 0 }],
  ['nullable', ofA({ type: 'string', nullable: true }), { a: null }, { a: 1 }],
  ['nullable beside anyOf', ofA({ anyOf: [{ type: 'string' }], nullable: true }), { a: null }, { a: 1 }],
  [
    'nullable beside $ref',
    ofA({ $ref: '#/$defs/x', nullable: true }, { $defs: { x: { type: 'string' } } }),
    { a: null },
    { a: 1 },
  ],
  ['a top-level id', ofA({ const: 1 }, { id: 'https://a.example/x', ...draft('draft-07') }), { a: 1 }, { a: 2 }],
  ['a top-level id of draft 4', ofA({ enum: [1] }, { id: '#look', ...draft('draft-04') }), { a: 1 }, { a: 2 }],
  ['a property named id', ofA({}, { properties: { id: { type: 'string' } } }), { id: 'x' }, { id: 1 }],
  ['keywords that are null', ofA({ type: 'object', required: null, properties: null }), { a: {} }, { a: 1 }],
  [
    'a property that is null',
    ofA({ type: 'string' }, { properties: { a: { type: 'string' }, b: null } }),
    { b: 1 },
    { a: 1 },
  ],
  ['an enum that is null', ofA({ type: 'string', enum: null }), { a: 'x' }, { a: 1 }],
  [
    'a keyword beside a reference of draft 7',
    ofA({ $ref: '#/definitions/x', maxLength: 2 }, { ...draft('draft-07'), definitions: { x: { type: 'string' } } }),
    { a: 'long' },
    { a: 1 },
  ],
  [
    'a keyword beside a reference of 2020-12',
    ofA({ $ref: '#/$defs/x', maxLength: 2 }, { $defs: { x: { type: 'string' } } }),
    { a: 'ab' },
    { a: 'long' },
  ],
  ['a multiple of a fraction', ofA({ multipleOf: 0.01 }), { a: 19.99 }, { a: 19.995 }],
  ['$async', ofA({ type: 'string' }, { $async: true }), { a: 'x' }, { a: 1 }],
  ['an escape that is invalid under u', ofA({ pattern: '^https\\:\\/\\/' }), { a: 'https://x' }, { a: 'ftp' }],
  ['a named group of Python', ofA({ pattern: '^(?P<kind>a|b)-' }), { a: 'a-1' }, { a: 'c-1' }],
  ['a flag of Python', ofA({ pattern: '(?i)^abc$' }), { a: 'ABC' }, { a: 'd' }],
  ['an unknown $schema', ofA({ type: 'string' }, { $schema: 'https://a.example/mine' }), { a: 'x' }, { a: 1 }],
  [
    'a reference to its meta-schema',
    ofA({ $ref: year('2020-12').$schema }),
    { a: { type: 'string' } },
    { a: { type: 'no type' } },
  ],
])('%s is checked in its dialect', (_, schema, fits, misfits) => {
  expect(schemaProblem(schema)).toBeNull();
  expect(problemsOf(schema, fits)).toEqual([]);
  expect(problemsOf(schema, misfits)).not.toEqual([]);
});

it.each<[string, JsonObject, string]>([
  ['a reference to nothing', ofA({ $ref: '#/$defs/none' }), "can't resolve reference #/$defs/none from id #"],
  ['a reference to a URL', ofA({ $ref: 'https://a.example/x' }), "can't resolve reference https://a.example/x"],
  ['an unknown type', ofA({ type: 'str' }), 'type must be JSONType or JSONType[]: str'],
  ['required of draft 3', ofA({ type: 'string', required: true }), 'required value must be ["array"]'],
  ['a minimum in quotes', ofA({ minimum: '3' }), 'minimum value must be ["number"]'],
])('%s is quoted from the compiler, and nothing is checked', (_, schema, problem) => {
  expect(schemaProblem(schema)).toContain(problem);
  expect(problemsOf(schema, { a: 'anything' })).toEqual([]);
});

it.each([
  ['a lookahead', '(?=a)b', 'it uses lookahead or lookbehind, which does not run in linear time', false],
  ['the end of a text in Python', '^\\d+\\Z', 'regular expressions of other languages read it differently', false],
  ['a count of Python', '^a{,3}$', 'regular expressions of other languages read it differently', false],
  ['a backreference of Python', '(?P<n>a)(?P=n)', 'Invalid regular expression: /(?P<n>a)(?P=n)/u: Invalid group', true],
  ['an open bracket', '[', 'Invalid regular expression: /[/u: Unterminated character class', true],
])('a pattern with %s fits everything and is named', (_, pattern, reason, isInvalid) => {
  const schema = ofA({ type: 'string', pattern });
  expect(schemaProblem(schema)).toBeNull();
  expect(problemsOf(schema, { a: 'anything' })).toEqual([]);
  expect(unsupportedPatterns(schema)).toEqual([{ path: ['properties', 'a', 'pattern'], pattern, reason, isInvalid }]);
});

const large = '9007199254740993';
const most = '9223372036854775807';
const integer = { type: 'integer' };
const above = { ...integer, exclusiveMinimum: 2 ** 53 };
it.each<[string, JsonObject, JsonObject, readonly string[], number]>([
  ['exclusiveMaximum', { properties: { a: { ...integer, exclusiveMaximum: 2 ** 63 } } }, { a: most }, [], 0],
  ['a lower maximum', { properties: { a: { ...integer, maximum: 2 ** 62 } } }, { a: most }, [], 1],
  ['multipleOf', { properties: { a: { ...integer, multipleOf: 3 } } }, { a: large }, [], 0],
  [
    'a limit in anyOf',
    { properties: { a: { anyOf: [{ ...integer, exclusiveMaximum: 2 ** 63 }, { type: 'null' }] } } },
    { a: most },
    [],
    0,
  ],
  [
    'if and else',
    JSON.parse(
      '{"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"a":{"type":"integer"}}},"else":{"properties":{"a":{"type":"string"}}}}',
    ),
    { k: 1, a: large },
    ['/a'],
    0,
  ],
  ['dependentSchemas', { dependentSchemas: { k: { properties: { a: integer } } } }, { k: 1, a: large }, ['/a'], 0],
  ['unevaluatedProperties', { unevaluatedProperties: integer }, { a: large }, ['/a'], 0],
  [
    'an anchor',
    { properties: { a: { $ref: '#id' } }, $defs: { id: { $anchor: 'id', ...integer } } },
    { a: large },
    ['/a'],
    0,
  ],
  ['contains', { properties: { a: { contains: { exclusiveMinimum: 2 ** 53 } } } }, { a: [large] }, ['/a/0'], 0],
  ['not', { properties: { a: { not: { exclusiveMinimum: 2 ** 53 } } } }, { a: large }, ['/a'], 1],
  [
    'a limit in a reference',
    { properties: { a: { oneOf: [{ $ref: '#/$defs/above' }, { type: 'null' }] } }, $defs: { above } },
    { a: large },
    ['/a'],
    0,
  ],
  [
    'exclusiveMinimum of draft 4',
    { ...draft('draft-04'), properties: { a: { ...integer, minimum: 2 ** 53, exclusiveMinimum: true } } },
    { a: large },
    [],
    0,
  ],
  [
    'a maximum that only the exact number exceeds',
    { properties: { a: { ...integer, maximum: 2 ** 53 } } },
    { a: large },
    [],
    1,
  ],
])('a large integer is checked exactly: %s', (_, schema, args, integers, count) => {
  const tool = { name: 'look', description: '', parameters: { type: 'object', ...schema } } as unknown as Tool;
  expect(argumentProblems(tool, args, integers)).toHaveLength(count);
});

const either = JSON.parse(
  '{"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"a":{"type":"integer"}}},"else":{"properties":{"a":{"type":"string"}}}}',
);
it.each<[string, JsonObject, JsonObject, string]>([
  ['then', either, { k: 1, a: large }, `{"k":1,"a":${large}}`],
  ['else', either, { k: 2, a: large }, `{"k":2,"a":"${large}"}`],
  [
    'dependentSchemas',
    { dependentSchemas: { k: { properties: { a: integer } } } },
    { k: 1, a: large },
    `{"k":1,"a":${large}}`,
  ],
  ['unevaluatedProperties', { unevaluatedProperties: integer }, { a: large }, `{"a":${large}}`],
  [
    'an anchor',
    { properties: { a: { $ref: '#id' } }, $defs: { id: { $anchor: 'id', ...integer } } },
    { a: large },
    `{"a":${large}}`,
  ],
  [
    'a dynamic anchor',
    { properties: { a: { $dynamicRef: '#id' } }, $defs: { id: { $dynamicAnchor: 'id', ...integer } } },
    { a: large },
    `{"a":${large}}`,
  ],
  [
    'an anchor of the root',
    { $dynamicAnchor: 'node', properties: { a: { anyOf: [integer, { $dynamicRef: '#node' }] } } },
    { a: { a: large } },
    `{"a":{"a":${large}}}`,
  ],
  [
    'unevaluatedItems',
    { properties: { a: { prefixItems: [{ type: 'string' }], unevaluatedItems: integer } } },
    { a: [large, large] },
    `{"a":["${large}",${large}]}`,
  ],
  [
    'a text that is too long',
    { properties: { a: { $ref: '#id' } }, $defs: { id: { $anchor: 'id', type: 'string', maxLength: 3 } } },
    { a: large },
    `{"a":"${large}"}`,
  ],
  ['nothing about it', {}, { a: large }, `{"a":"${large}"}`],
])('a text of digits is a number where the schema takes only that: %s', (_, schema, args, sent) => {
  const parameters = { type: 'object', ...schema } as JsonObject;
  expect(JSON.stringify(sentArguments(parameters, args))).toBe(sent);
  const problems = argumentProblems({ name: 'look', description: '', parameters } as Tool, args);
  expect(problems).toHaveLength(sent.includes('"a":"') && 'properties' in schema ? 1 : 0);
});

it.each<[string, JsonObject]>([
  ['itself', ofA({ $ref: '#/properties/a' })],
  ['one that leads back', { ...ofA({ $ref: '#/$defs/b' }), $defs: { b: { allOf: [{ $ref: '#/properties/a' }] } } }],
  ['the root', { allOf: [{ $ref: '#' }] }],
  ['its anchor', { ...ofA({ $ref: '#b' }), $defs: { b: { $anchor: 'b', anyOf: [{ $ref: '#b' }] } } }],
  ['its definition', { $ref: '#/$defs/b', $defs: { b: { $ref: '#/$defs/b' } } }],
  ['a condition of itself', ofA({ if: { $ref: '#/properties/a' } })],
])('a schema that refers to %s without an end is quoted, and nothing is checked', (_, parameters) => {
  expect(schemaProblem({ type: 'object', ...parameters })).toMatch(/^the reference #\S* leads back to itself$/);
  expect(problemsOf(parameters, { a: 1 })).toEqual([]);
});

it('a value is not checked where the schema refers to itself by its address', () => {
  const $id = 'https://a.example/x';
  expect(problemsOf({ $id, ...ofA({ $ref: `${$id}#/properties/a` }) }, { a: 1 })).toEqual([]);
});

it.each<[string, JsonObject]>([
  ['a tree', ofA({ $ref: '#' })],
  ['a list of itself', ofA({ type: 'array', items: { anyOf: [{ $ref: '#/properties/a' }, { type: 'null' }] } })],
  ['the same reference twice', ofA({ allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] }, { $defs: { b: {} } })],
  ['an endless definition that nothing uses', { type: 'object', $defs: { b: { $ref: '#/$defs/b' } } }],
  ['a reference that is data', ofA({ const: { $ref: '#/properties/a' } })],
])('a schema of %s has an end', (_, schema) => {
  expect(schemaProblem(schema)).toBeNull();
});

const nested = (levels: number, value: Json = 1): JsonObject => ({
  a: levels === 1 ? value : nested(levels - 1, value),
});
const node = (...forms: readonly JsonObject[]): JsonObject =>
  ofA({ $ref: '#/$defs/v' }, { $defs: { v: { oneOf: [{ type: 'integer' }, ...forms] } } });
const inside = { type: 'object', properties: { a: { $ref: '#/$defs/v' } } };

it('100 nested objects are checked where one of several forms fits each', () => {
  const schema = node(inside, { ...inside, required: ['b'] });
  expect(problemsOf(schema, nested(100))).toEqual([]);
  expect(problemsOf(schema, nested(100, 'x'))).not.toEqual([]);
});

it('what takes too many steps of a pattern is left to the server of a tool, and refused otherwise', () => {
  const slow = { type: 'string', pattern: '^(?:a|b)*a(?:a|b){900}[cd]' };
  const tool = { name: 'look', description: '', parameters: ofA(slow) } as const;
  const of = (type: string, text: string) => misfitOf({ ...tool, source: { type } } as unknown as Tool, { a: text });
  const long = 'ab'.repeat(50_000);
  expect(of('mcp', long)).toBeNull();
  expect(of('code', long)).toMatch(/cannot be checked: the schema takes more than 50000000 steps of its patterns/);
  expect(of('mcp', 'ab')).toMatch(/must match pattern/);
});

it('what takes too many references is left to the server of a tool, and refused otherwise', () => {
  const tool = { name: 'look', description: '', parameters: node(inside, { ...inside, not: inside }) } as const;
  const of = (type: string) => misfitOf({ ...tool, source: { type } } as unknown as Tool, nested(100));
  expect(of('mcp')).toBeNull();
  expect(of('code')).toBe(
    'the arguments of look do not fit: the arguments cannot be checked: the schema takes more than 100000 references for one value.',
  );
});
