import { expect, test } from 'vitest';
import { strangeTool } from '../../../../src/engine/core/domain/tool.ts';
import type { Json, JsonObject } from '../../../../src/engine/core/values/json.ts';
import { readResult, recordedData } from '../../../../src/engine/shell/mcp/result.ts';
import { lostMedia, snapshotArgument, snapshotOf, stateOf } from '../../../../src/engine/shell/mcp/state.ts';

const saved = { a: 1 };
const text = '{"a":1}';

test.each<[schema: JsonObject, sent: unknown]>([
  [{ type: 'string' }, text],
  [{ type: ['string', 'null'] }, text],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }], default: null }, text],
  [{ $ref: '#/$defs/State' }, text],
  [{ type: 'object' }, saved],
  [{ anyOf: [{ type: 'string' }, { type: 'object' }] }, saved],
  [{ $ref: '#/$defs/Loop' }, saved],
  [{}, saved],
])('a snapshot goes back to an argument with the schema %j as %j', (schema, sent) => {
  const parameters = {
    type: 'object',
    properties: { state: schema },
    $defs: { State: { anyOf: [{ type: 'null' }, { type: 'string' }] }, Loop: { $ref: '#/$defs/Loop' } },
  };
  expect(snapshotArgument(saved, { ...strangeTool('notes', 'restore', 'agent'), parameters }, 'state')).toEqual(sent);
});

const part = (words: string) => ({ type: 'text', text: words });
const rowsOf = (...texts: readonly string[]) => ({ content: texts.map(part) });

test.each<[sent: object, list: string]>([
  [rowsOf(), '[]'],
  [rowsOf(''), '[]'],
  [rowsOf('{"a":1}'), '[{"a":1}]'],
  [rowsOf('{"total":20.0}', '{"id":9007199254740993}'), '[{"total":20.0},{"id":9007199254740993}]'],
  [rowsOf('milk', '1.10', '7'), '["milk","1.10",7]'],
  [rowsOf('[{"a":1.0}]'), '[{"a":1.0}]'],
  [{ content: [], structuredContent: { a: 1 } }, '[{"a":1}]'],
])('the snapshot %j with rows goes back as %s', (sent, list) => {
  const snapshot = snapshotOf(readResult(sent), { rows: true });
  expect(sentBack(snapshot, { type: 'string' })).toBe(list);
  expect(JSON.stringify(sentBack(snapshot, { type: 'array' }))).toBe(list);
});

const file = { type: 'resource', resource: { uri: 'a:b', blob: 'AAEC' } };

test('a snapshot that is one file goes back as its Base64', () => {
  const result = readResult({ content: [file] });
  expect([snapshotOf(result), lostMedia(result)]).toEqual(['AAEC', null]);
});

test.each<[sent: object, lost: string | null]>([
  [{ content: [file, part('Exported.')] }, '[application/octet-stream, 1 kB]'],
  [
    { content: [file, { type: 'image', mimeType: 'image/png', data: 'AAEC' }] },
    '[application/octet-stream, 1 kB], [image/png, 1 kB]',
  ],
  [{ content: [file], structuredContent: { a: 1 } }, null],
  [{ content: [part('Exported.')] }, null],
])('the media that a snapshot cannot have are named: %j', (sent, lost) => {
  expect(lostMedia(readResult(sent))).toBe(lost);
});

test('a snapshot whose Base64 cannot be read goes back as the server wrote it', () => {
  const blob = 'A'.repeat(4005);
  const result = readResult({ content: [{ type: 'resource', resource: { uri: 'a:b', blob } }] });
  expect([snapshotOf(result), lostMedia(result)]).toEqual([blob, null]);
});

const picture = (data: string, mimeType = 'image/png') => ({ type: 'image', mimeType, data });
const one = picture('AAEC');
const hashed = (hash: string) => `[image/png, 1 kB, SHA-256 ${hash}]`;
const ofOne = 'ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc';

test.each<[what: string, parts: readonly object[], other: readonly object[]]>([
  ['bytes', [one], [picture('AAED')]],
  ['a type', [one], [picture('AAEC', 'image/jpeg')]],
  ['a file', [file], [{ type: 'resource', resource: { uri: 'a:b', blob: 'AAED' } }]],
  ['bytes between texts', [part('a'), one, part('b')], [part('a'), picture('AAED'), part('b')]],
  ['bytes that cannot be read', [picture('A'.repeat(4005))], [picture(`${'A'.repeat(4004)}B`)]],
])('two states that differ in %s are not equal', (_, parts, other) => {
  const state = (content: readonly object[]) => stateOf(readResult({ content }), {});
  expect(state(parts)).not.toEqual(state(other));
  expect(state(parts)).toEqual(state(parts));
});

test.each<[what: string, parts: readonly object[], rows: boolean | undefined, state: Json]>([
  ['a picture', [one], undefined, hashed(ofOne)],
  ['a picture in another form of Base64', [picture('AAE\nC')], undefined, hashed(ofOne)],
  ['a picture between texts', [part('a'), one, part('b')], undefined, `a\n${hashed(ofOne)}\nb`],
  ['pictures as rows', [one, one], true, [hashed(ofOne), hashed(ofOne)]],
  ['a row and its picture', [part('{"id":1}'), one], true, [{ id: 1 }, hashed(ofOne)]],
])('the state of %s has the hash of its bytes', (_, content, rows, state) => {
  const result = readResult({ content });
  expect(stateOf(result, { rows })).toEqual(state);
  expect(stateOf(recordedData(result), { rows }), 'as a recording has it').toEqual(state);
});

test('the state of structured content that repeats a picture has the hash of its bytes', () => {
  const result = readResult({ content: [one], structuredContent: { content: [one], width: 2 } });
  const state = { content: [{ ...one, data: `SHA-256 ${ofOne}` }], width: 2 };
  expect(stateOf(result, {})).toEqual(state);
  expect(stateOf(recordedData(result), {}), 'as a recording has it').toEqual(state);
});

/** Returns a snapshot as an argument with a schema. */
const sentBack = (snapshot: Json, schema: JsonObject) =>
  snapshotArgument(
    snapshot,
    { ...strangeTool('notes', 'restore', 'agent'), parameters: { type: 'object', properties: { to: schema } } },
    'to',
  );

const data = { version: 1.1 };

test.each<[sent: object, asText: string, asJson: string]>([
  [{ content: [part('1.10')] }, '1.10', '1.10'],
  [{ content: [part('{"total":20.0}')] }, '{"total":20.0}', '{"total":20.0}'],
  [{ content: [part('{ "a": [1,\n2] }')] }, '{ "a": [1,\n2] }', '{"a":[1,2]}'],
  [{ content: [part('"a"')] }, '"a"', '"a"'],
  [{ content: [part('a: 1.10')] }, 'a: 1.10', '"a: 1.10"'],
  [{ content: [part('{"version": 1.10}')], structuredContent: data }, '{"version": 1.10}', '{"version":1.10}'],
  [{ content: [part('Saved.')], structuredContent: data }, '{"version":1.1}', '{"version":1.1}'],
])('the snapshot %j goes back to the server as it was written: %s', (sent, asText, asJson) => {
  const snapshot = snapshotOf(readResult(sent));
  expect(sentBack(snapshot, { type: 'string' })).toBe(asText);
  expect(JSON.stringify(sentBack(snapshot, {}))).toBe(asJson);
});

test('a text that takes too many steps of the pattern of a reader is refused', () => {
  const lines = '^(?<a>(?:a|b)*a(?:a|b){900})';
  expect(stateOf({ content: 'ab' }, { lines })).toEqual([]);
  expect(() => stateOf({ content: 'ab'.repeat(50_000) }, { lines })).toThrow(/takes too long for a result of 100000/);
});
