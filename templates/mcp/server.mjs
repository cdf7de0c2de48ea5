// A small MCP server without packages: JSON-RPC messages, one a line, on standard input and output.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.env.READING_LIST;
const start = { books: [{ title: 'Solaris', author: 'Stanislaw Lem' }] };
const read = () => (file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : start);
const write = (list) => file && writeFileSync(file, JSON.stringify(list));

const text = { type: 'string' };
const tools = {
  list_books: {
    description: 'The books on the list, with their authors.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
    run: () => read(),
  },
  add_book: {
    description: 'Puts a book on the list.',
    inputSchema: { type: 'object', properties: { title: text, author: text }, required: ['title', 'author'] },
    annotations: { readOnlyHint: false },
    run: ({ title, author }) => {
      const { books } = read();
      if (books.some((book) => book.title === title)) throw new Error(`${title} is on the list already`);
      write({ books: [...books, { title, author }] });
      return `${title} is on the list`;
    },
  },
  remove_book: {
    description: 'Takes a book off the list.',
    inputSchema: { type: 'object', properties: { title: text }, required: ['title'] },
    annotations: { readOnlyHint: false },
    run: ({ title }) => {
      const { books } = read();
      if (!books.some((book) => book.title === title)) throw new Error(`${title} is not on the list`);
      write({ books: books.filter((book) => book.title !== title) });
      return `${title} is off the list`;
    },
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'reading-list', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, { run: _, ...tool }]) => ({ name, ...tool })) }),
  'tools/call': ({ name, arguments: args = {} }) => {
    try {
      const result = tools[name].run(args);
      return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] };
    } catch (error) {
      return { content: [{ type: 'text', text: `Error: ${error.message}` }], isError: true };
    }
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return; // a notification wants no answer
  const answer = methods[method]
    ? { result: methods[method](params ?? {}) }
    : { error: { code: -32601, message: `there is no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
