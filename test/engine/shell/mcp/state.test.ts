import { expect, test } from 'vitest';
import { strangeTool } from '../../../../src/engine/core/domain/tool.ts';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import { readResult } from '../../../../src/engine/shell/mcp/result.ts';
import { snapshotArgument, snapshotOf } from '../../../../src/engine/shell/mcp/state.ts';

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
  const snapshot = snapshotOf(readResult(sent), undefined);
  const argument = (schema: JsonObject) =>
    snapshotArgument(
      snapshot,
      { ...strangeTool('notes', 'restore', 'agent'), parameters: { type: 'object', properties: { to: schema } } },
      'to',
    );
  expect(argument({ type: 'string' })).toBe(asText);
  expect(JSON.stringify(argument({}))).toBe(asJson);
});
