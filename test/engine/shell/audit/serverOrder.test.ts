import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect } from 'vitest';
import { approveDomain } from '../../../support/approval.ts';
import { inFullSuite } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal } from '../../../support/terminal.ts';

// A server whose list has a different order in each process, and whose schema does not list required arguments.
const require = createRequire(import.meta.url);
const sdk = (file: string) => JSON.stringify(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${file}`)).href);
const folder = temporaryFolder('server-order');
/** A file outside of the server's folder, because an approval covers the programs in that folder. */
const starts = join(temporaryFolder('server-starts'), 'starts');
const write = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};

beforeAll(() => {
  write(
    'server.mjs',
    `import { appendFileSync, readFileSync } from 'node:fs';
import { Server } from ${sdk('server/index.js')};
import { StdioServerTransport } from ${sdk('server/stdio.js')};
import { CallToolRequestSchema, ListToolsRequestSchema } from ${sdk('types.js')};

const starts = process.argv[2];
appendFileSync(starts, 'x');
const names = 'abcdefghijklmnopqrstuvwxyz'.split('');
const first = readFileSync(starts, 'utf8').length % names.length;
const rows = [...names.slice(first), ...names.slice(0, first)];
const schema = { type: 'object', properties: { name: { type: 'string' } } };
const server = new Server({ name: 'rows', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    { name: 'add_row', description: 'Adds a row.', inputSchema: { ...schema, required: ['name'] } },
    { name: 'draw', description: 'Draws a number.', inputSchema: { type: 'object', properties: {} } },
    { name: 'list_rows', description: 'Lists the rows.', inputSchema: schema },
    { name: 'print_rows', description: 'Prints the rows.', inputSchema: schema },
  ],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  if (params.name === 'add_row') rows.push(params.arguments.name);
  if (params.name === 'draw') return { content: [{ type: 'text', text: String(Math.random()) }] };
  if (params.name === 'print_rows') return { content: [{ type: 'text', text: rows.map((row) => 'row ' + row).join('; ') }] };
  const value = params.name === 'add_row' ? { added: params.arguments.name } : { rows };
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
});
await server.connect(new StdioServerTransport());
`,
  );
  write('policy.md', '# Rows\n\n- Make one tool call per message. {#one-call}\n');
  write('rules.yaml', '- { rule: one-call, check: oneCall }\n');
  write('personas/plain.persona.yaml', 'id: plain\ndescription: A person who wants something listed.\n');
  write(
    'tasks/add.task.yaml',
    `id: add
description: Adds a row.
split: train
persona: plain
user:
  goal: You want a row named salt.
  opening: Please add salt.
  known: { name: salt }
actions: [{ tool: add_row, arguments: { name: salt } }]
assertions: [{ in: rows, that: '"salt" in state.rows' }]
evaluate: [assertions]
train: [assertions]
`,
  );
});

const audited = async (more: string, reader = '{ tool: list_rows }') => {
  write(
    'domain.yaml',
    `name: rows
mcpServers:
  rows:
    command: ${JSON.stringify(process.execPath)}
    args: ["\${domainFolder}/server.mjs", ${JSON.stringify(starts)}]
    reader: ${reader}
    writes: [add_row]
${more}`,
  );
  approveDomain(folder);
  return rehearsal('check', folder, '--audit');
};

inFullSuite('a list in another order is named, and its schema is left to the server', async () => {
  const { code, out, err } = await audited('');
  expect({ code, err }).toMatchObject({ code: 1 });
  expect(out).toMatch(/error task\/gold-differs .*rows\.rows\.0 is "\w", then "\w"/);
  expect(out).toMatch(/error tool\/undeclared-write list_rows .* or list what differs under volatile:/);
  expect(out).toContain('the list if only the order of its rows differs');
  expect(out).toMatch(/info tool\/strict-schema .*list_rows.* The schema is that of its server/);
});

inFullSuite('a misspelt volatile name is named, before what follows from it', async () => {
  const { code, out } = await audited('    volatile: [rowz]\n');
  expect(code).toBe(1);
  expect(out.replace(/\n +/g, ' ')).toMatch(
    /domain\.yaml:8:\d+ warning domain\/unknown-field No state or result of the server rows has a field rowz\. Did you mean "rows"\?/,
  );
  expect(out).toMatch(/error tool\/undeclared-write list_rows .* First correct rowz under volatile:/);
});

inFullSuite('a tool whose whole result differs can be named', async () => {
  const { code, out } = await audited('    volatile: [rows]\n');
  expect(code).toBe(1);
  expect(out).toMatch(
    /error tool\/not-repeatable draw.* List draw under volatile: of its server\. Its result is a text/,
  );
});

inFullSuite('a volatile list is compared in any order, and a volatile tool not at all', async () => {
  const { code, out } = await audited('    volatile: [rows, draw, print_rows]\n');
  expect(out).not.toContain('gold-differs');
  expect(code).toBe(0);
  expect(readFileSync(starts, 'utf8').length).toBeGreaterThan(1);
});

inFullSuite('a pattern of the reader that matches no line is named', async () => {
  const { out } = await audited('', "{ tool: print_rows, lines: '^no (?<name>\\w+)$' }");
  expect(out).toContain('warning domain/unmatched-lines The pattern reader.lines of the server rows matched no line');
});
