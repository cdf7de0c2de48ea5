import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import type { Json, JsonObject } from '../../../../src/engine/core/values/json.ts';
import { rawJson } from '../../../../src/engine/core/values/largeIntegers.ts';
import { audit } from '../../../../src/engine/shell/audit/audit.ts';
import { mismatchOf } from '../../../../src/engine/shell/mcp/outputSchema.ts';
import { sidecarPath } from '../../../../src/engine/shell/records/recording.ts';
import { guardReader } from '../../../../src/engine/shell/records/stepNotes.ts';
import { approveDomain } from '../../../support/approval.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { scriptedMcpServer } from '../../../support/scriptedMcpServer.ts';
import { sampled } from '../../../support/suite.ts';
import { checkWithKnownTools } from '../audit/findings.ts';

const text = (content: string, more: object = {}) => ({ content: [{ type: 'text', text: content }], ...more });
const schema = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] };

const tooLong = 'Error: the result is longer than 1000 characters, which is the maxResultLength of the server';

/** A domain in which the agent calls `set` of a scripted server, which keeps one state for all rollouts. */
async function domainOf(outputSchema: unknown, result: object) {
  const state = { now: '0' };
  const { url } = await scriptedMcpServer({
    list: {
      tools: [
        { name: 'set', outputSchema },
        { name: 'state' },
        { name: 'restore', inputSchema: { properties: { to: {} } } },
      ],
    },
    call: ({ name, arguments: args }) => {
      if (name === 'set') state.now = '1';
      if (name === 'restore') state.now = String(args['to']);
      return name === 'set' ? result : text(state.now);
    },
  });
  const folder = mcpDomain(
    'counter',
    `  counter:
    type: http
    url: ${url}
    writes: [set, restore]
    maxResultLength: 1000
    state: snapshot
    snapshot: { tool: state }
    restore: { tool: restore, argument: to }`,
    `user: { goal: You want it set., known: { by: 1 } }
script: [[{ tool: set }], [{ tool: state }], Done.]
evaluate: [communicate]
train: [communicate]
communicate: [Done]
`,
  );
  return { folder, state };
}

it.each<[string, unknown, object, string, string | undefined]>(
  sampled(
    [
      ['that fits', schema, text('set', { structuredContent: { count: 1 } }), 'set', undefined],
      ['of a wrong type', schema, text('set', { structuredContent: { count: 'x' } }), 'set', '/count must be number'],
      ['without structured content', schema, text('set'), 'set', 'has no structuredContent'],
      ['that is a list', schema, { structuredContent: [1] }, '[1]', 'must be object'],
      ['that is an error', schema, text('no such counter', { isError: true }), 'no such counter', undefined],
      [
        'whose schema has a pattern of no language',
        { properties: { a: { pattern: '(' } } },
        text('set'),
        'set',
        'has no',
      ],
      ['whose schema refers to nothing', { $ref: '#/none' }, text('set', { structuredContent: {} }), 'set', undefined],
      [
        'whose schema is of type array',
        { type: 'array' },
        text('set', { structuredContent: {} }),
        'set',
        'must be array',
      ],
      ['that is too long', schema, text('x'.repeat(2000)), tooLong, undefined],
      ['whose schema is a text', 'a text', text('set'), 'set', undefined],
    ],
    5,
  ),
)('a result %s is what the agent sees, and its write is kept', async (_, outputSchema, result, seen, mismatch) => {
  const { folder: domain, state } = await domainOf(outputSchema, result);
  const [parent] = await rehearse(domain, ['a']);
  if (!parent) throw new Error('no rollout');
  expect(parent.results).toEqual([seen, '1']);
  const isFailed = 'isError' in result;
  const saved = parent.events.filter(({ type }) => type === 'sourceSaved');
  expect(saved).toMatchObject([{ source: 'counter', snapshot: 1 }]);
  const at = parent.events.findIndex(({ type }) => type === 'toolReturned');
  expect(parent.events[at]).toMatchObject({ content: seen, isError: isFailed || seen === tooLong });
  const note = guardReader(parent.recording)({ n: at, event: parent.events[at] as never });
  expect(note?.mismatch).toEqual(mismatch === undefined ? undefined : expect.stringContaining(mismatch));
  expect(readFileSync(sidecarPath(parent.recording), 'utf8').includes('"mismatch"')).toBe(mismatch !== undefined);
  state.now = '0';
  const [fork] = await rehearse(domain, ['a'], { from: parent.events.slice(0, at + 2) });
  expect(fork?.results).toEqual(parent.results);
  expect(replayed(domain, parent).problems).toBe(0);
});

it('one difference of a result is found, however many there are', () => {
  const tool = { outputSchema: { type: 'array', items: { type: 'number' } } } as unknown as Tool;
  const data = Array.from({ length: 1000 }, () => 'x');
  expect(mismatchOf(tool, { content: '', isError: false, data })).toBe(
    'structuredContent does not match the output schema: /0 must be number',
  );
});

const even = 9007199254740992;
const $defs = { above: { type: 'integer', exclusiveMinimum: even } };
it.each<[JsonObject, string, string | undefined]>([
  [{ exclusiveMinimum: even }, '9007199254740993', undefined],
  [{ maximum: even }, '9007199254740993', 'must be <= 9007199254740992'],
  [{ minimum: -even }, '-9007199254740993', 'must be >= -9007199254740992'],
  [{ exclusiveMaximum: even }, '9007199254740991', undefined],
  [{ multipleOf: 3 }, '9007199254740993', undefined],
  [{ type: 'string' }, '9007199254740993', 'must be string'],
  [{ anyOf: [{ maximum: even }, { type: 'string' }] }, '9007199254740993', 'must be <= 9007199254740992'],
  [{ type: 'string' }, '"9007199254740993"', undefined],
  [{ anyOf: [{ $ref: '#/$defs/above' }, { type: 'null' }] }, '9007199254740993', undefined],
  [{ not: { $ref: '#/$defs/above' } }, '9007199254740993', 'must NOT be valid'],
  [{ if: { $ref: '#/$defs/above' }, else: false }, '9007199254740993', undefined],
])('a result is compared with the limits of %j with all its digits: %s', (schema, number, mismatch) => {
  const tool = { outputSchema: { type: 'object', properties: { n: schema }, $defs } } as unknown as Tool;
  const data = rawJson(`{"n":${number}}`) as Json;
  const note = mismatchOf(tool, { content: '', isError: false, data });
  expect(note).toEqual(mismatch === undefined ? undefined : expect.stringContaining(mismatch));
});

it('the audit finds a result that does not match its output schema', async () => {
  const { folder } = await domainOf(schema, text('set', { structuredContent: { count: 'x' } }));
  const { loaded } = await checkWithKnownTools()(approveDomain(folder));
  const { diagnostics } = await audit(loaded, { signal: new AbortController().signal });
  expect(diagnostics).toContainEqual(
    expect.objectContaining({
      code: 'tool/output-mismatch',
      severity: 'warning',
      message: 'The result of set({}): structuredContent does not match the output schema: /count must be number.',
    }),
  );
});
