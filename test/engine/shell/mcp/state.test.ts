import { expect, test } from 'vitest';
import { strangeTool } from '../../../../src/engine/core/domain/tool.ts';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import { snapshotArgument } from '../../../../src/engine/shell/mcp/state.ts';

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
