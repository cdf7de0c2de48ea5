import { tmpdir } from 'node:os';
import type { JsonObject } from '../../src/engine/core/values/json.ts';

/** A published MCP server, and a domain of it as an author makes it with docs/mcp-cookbook.md. */
export type PublishedServer = {
  readonly registry: 'npm' | 'PyPI';
  readonly package: string;
  readonly version: string;
  /** Further requirements of pip. */
  readonly beside?: readonly string[];
  readonly bytes: number;
  /** The state that it keeps, in words. */
  readonly state: string;
  /** The state that the reward reads, in words. */
  readonly reads: string;
  /** Its program: a name in the folder of programs of the installation. */
  readonly program: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Starts the server over HTTP with these arguments; without it, the domain starts it over stdio. */
  readonly http?: {
    readonly args: (port: string, folder: string) => readonly string[];
    readonly env?: (port: string) => Readonly<Record<string, string>>;
    readonly path: string;
  };
  /** Files that are there at the start: a folder for `new --files`, for HTTP the folder that the server runs in. */
  readonly start?: Readonly<Record<string, string>>;
  /** Flags of `rehearsal new`. */
  readonly flags?: readonly string[];
  /** Keys of the server in domain.yaml that the author adds or changes. */
  readonly edits?: JsonObject;
  /** The task without its id and its persona. Its script is a wrong agent. */
  readonly task: string;
};

const assertions = (that: string) => `assertions:
  - { in: SERVER, that: '${that}' }
evaluate: [assertions]
train: [assertions]
`;

/** The task of servers with a knowledge graph. */
const keepAnn = `user: { goal: You want it kept that Ann likes tea., known: { name: Ann, likes: tea } }
actions:
  - tool: create_entities
    arguments: { entities: [{ name: Ann, entityType: person, observations: [likes tea] }] }
script:
  - - tool: create_entities
      arguments: { entities: [{ name: Anna, entityType: person, observations: [likes tea] }] }
  - Done.
${assertions('any(state.entities, it.name == "Ann")')}`;

/** The task of servers of SQLite that have the same tools. */
const cancelOrder = `user: { goal: You want order 1 cancelled., known: { order: 1 } }
setUp:
  SERVER:
    calls:
      - { tool: create_table, arguments: { query: "CREATE TABLE orders (id INTEGER, status TEXT)" } }
      - { tool: write_query, arguments: { query: "INSERT INTO orders VALUES (1, 'open'), (2, 'open')" } }
actions:
  - { tool: write_query, arguments: { query: "UPDATE orders SET status = 'cancelled' WHERE id = 1" } }
script:
  - [{ tool: write_query, arguments: { query: "UPDATE orders SET status = 'cancelled' WHERE id = 2" } }]
  - Done.
${assertions('any(state, it.id == 1 and it.status == "cancelled")')}`;

export const servers: readonly PublishedServer[] = [
  {
    registry: 'npm',
    package: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    bytes: 30e6,
    state: 'knowledge graph in a file',
    reads: '`read_graph`: the new entity',
    program: 'mcp-server-memory',
    env: { MEMORY_FILE_PATH: '${instanceFolder}/memory.json' },
    task: keepAnn,
  },
  {
    registry: 'npm',
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    bytes: 30e6,
    state: 'files in `${instanceFolder}`',
    reads: '`list_directory` by `lines`: the names of the files',
    program: 'mcp-server-filesystem',
    args: ['${instanceFolder}'],
    start: { 'notes.txt': 'nothing yet\n' },
    edits: {
      reader: {
        tool: 'list_directory',
        arguments: { path: '${instanceFolder}' },
        lines: '^\\[(?<kind>\\w+)\\] (?<name>.+)$',
      },
    },
    task: `user: { goal: You want a file todo.txt with milk., known: { file: todo.txt, text: milk } }
actions:
  - { tool: write_file, arguments: { path: "\${instanceFolder}/todo.txt", content: milk } }
script:
  - [{ tool: write_file, arguments: { path: "\${instanceFolder}/notes.txt", content: milk } }]
  - Done.
${assertions('any(state, it.name == "todo.txt")')}`,
  },
  {
    registry: 'npm',
    package: 'mcp-memory-libsql',
    version: '0.0.17',
    bytes: 40e6,
    state: 'knowledge graph in a database',
    reads: '`read_graph`: the new entity',
    program: 'mcp-memory-libsql',
    env: { LIBSQL_URL: 'file:${instanceFolder}/memory.db' },
    edits: { volatile: ['entities'] },
    task: keepAnn,
  },
  {
    registry: 'npm',
    package: '@allpepper/memory-bank-mcp',
    version: '0.2.2',
    bytes: 20e6,
    state: 'Markdown notes in folders',
    reads: '`memory_bank_read` by `lines`: the list in a note',
    program: 'mcp-server-memory-bank',
    env: { MEMORY_BANK_ROOT: '${instanceFolder}' },
    start: { 'home/shopping.md': '- bread\n' },
    edits: {
      reader: {
        tool: 'memory_bank_read',
        arguments: { projectName: 'home', fileName: 'shopping.md' },
        lines: '^- (?<item>.+)$',
      },
    },
    task: `user: { goal: You want milk on the shopping list., known: { item: milk } }
actions:
  - tool: memory_bank_update
    arguments: { projectName: home, fileName: shopping.md, content: "- bread\\n- milk\\n" }
script:
  - - tool: memory_bank_write
      arguments: { projectName: home, fileName: list.md, content: "- milk\\n" }
  - Done.
${assertions('any(state, it.item == "milk")')}`,
  },
  {
    registry: 'npm',
    package: '@kazuph/mcp-taskmanager',
    version: '1.1.1',
    bytes: 20e6,
    state: 'list of tasks in a JSON file',
    reads: '`list_requests`: how many tasks are done',
    program: 'mcp-taskmanager',
    env: { TASK_MANAGER_FILE_PATH: '${instanceFolder}/tasks.json' },
    edits: { reader: { tool: 'list_requests' } },
    task: `user: { goal: You want the fence painted., known: { request: Paint the fence } }
actions:
  - tool: request_planning
    arguments: { originalRequest: Paint the fence, tasks: [{ title: Paint, description: Paint the fence }] }
  - { tool: mark_task_done, arguments: { requestId: req-1, taskId: task-1 } }
script:
  - - tool: request_planning
      arguments: { originalRequest: Paint the fence, tasks: [{ title: Paint, description: Paint the fence }] }
  - Done.
${assertions('any(state.requests, it.completedTasks == 1)')}`,
  },
  {
    registry: 'npm',
    package: '@bytebase/dbhub',
    version: '1.4.0',
    bytes: 100e6,
    state: 'SQLite, one file for all; no session ids',
    reads: '`execute_sql`: the rows of a table',
    program: 'dbhub',
    http: {
      args: (port, folder) => ['--transport', 'http', '--port', port, '--dsn', `sqlite://${folder}/shop.db`],
      path: '/mcp',
    },
    flags: ['--no-play'],
    edits: {
      sharedState: true,
      reader: { tool: 'execute_sql', arguments: { sql: 'SELECT id, status FROM orders ORDER BY id' } },
    },
    task: `user: { goal: You want order 1 cancelled., known: { order: 1 } }
setUp:
  SERVER:
    calls:
      - { tool: execute_sql, arguments: { sql: "DROP TABLE IF EXISTS orders" } }
      - { tool: execute_sql, arguments: { sql: "CREATE TABLE orders (id INTEGER, status TEXT)" } }
      - { tool: execute_sql, arguments: { sql: "INSERT INTO orders VALUES (1, 'open'), (2, 'open')" } }
actions:
  - { tool: execute_sql, arguments: { sql: "UPDATE orders SET status = 'cancelled' WHERE id = 1" } }
script:
  - [{ tool: execute_sql, arguments: { sql: "UPDATE orders SET status = 'cancelled' WHERE id = 2" } }]
  - Done.
${assertions('any(state.data.statements[0].rows, it.id == 1 and it.status == "cancelled")')}`,
  },
  {
    registry: 'npm',
    package: '@executeautomation/database-server',
    version: '1.1.0',
    bytes: 60e6,
    state: 'tables of SQLite',
    reads: '`read_query`: the rows of a table',
    program: 'ea-database-server',
    args: ['${instanceFolder}/shop.db'],
    flags: ['--no-play'],
    edits: { reader: { tool: 'read_query', arguments: { query: 'SELECT id, status FROM orders ORDER BY id' } } },
    task: cancelOrder,
  },
  {
    registry: 'PyPI',
    package: 'mcp-server-sqlite',
    version: '2025.4.25',
    beside: ['mcp<2'],
    bytes: 60e6,
    state: 'tables of SQLite',
    reads: '`read_query`: the rows of a table',
    program: 'mcp-server-sqlite',
    args: ['--db-path', '${instanceFolder}/shop.db'],
    flags: ['--no-play'],
    edits: { reader: { tool: 'read_query', arguments: { query: 'SELECT id, status FROM orders ORDER BY id' } } },
    task: cancelOrder,
  },
  {
    registry: 'PyPI',
    package: 'excel-mcp-server',
    version: '2.2.2',
    bytes: 120e6,
    state: 'workbook in `${instanceFolder}`',
    reads: '`read_range`: the cells of a sheet',
    program: 'excel-mcp-server',
    http: {
      args: (port) => ['streamable-http', '--port', port, '--allow-dir', tmpdir()],
      path: '/mcp',
    },
    flags: ['--no-play'],
    edits: {
      reader: {
        tool: 'read_range',
        arguments: { path: '${instanceFolder}/book.xlsx', sheet: 'Sheet1', range: 'A1:A1' },
      },
    },
    task: `user: { goal: You want 12 in the first cell., known: { value: 12 } }
setUp: { SERVER: { calls: [{ tool: create_workbook, arguments: { path: "\${instanceFolder}/book.xlsx" } }] } }
actions:
  - tool: write_range
    arguments: { path: "\${instanceFolder}/book.xlsx", sheet: Sheet1, at: A1, rows: [[12]] }
script:
  - - tool: write_range
      arguments: { path: "\${instanceFolder}/book.xlsx", sheet: Sheet1, at: A2, rows: [[12]] }
  - Done.
${assertions('state.values[0][0] == 12')}`,
  },
  {
    registry: 'PyPI',
    package: 'mcp-server-motherduck',
    version: '1.1.0',
    bytes: 200e6,
    state: 'DuckDB, one database for all sessions',
    reads: '`execute_query`: the rows of a table',
    program: 'mcp-server-motherduck',
    http: {
      args: (port) => ['--transport', 'http', '--port', port, '--db-path', ':memory:', '--read-write'],
      path: '/mcp',
    },
    flags: ['--no-play'],
    edits: {
      sharedState: true,
      reader: { tool: 'execute_query', arguments: { sql: 'SELECT id, status FROM orders ORDER BY id' } },
    },
    task: `user: { goal: You want order 1 cancelled., known: { order: 1 } }
setUp:
  SERVER:
    calls:
      - { tool: execute_query, arguments: { sql: "CREATE OR REPLACE TABLE orders (id INTEGER, status TEXT)" } }
      - { tool: execute_query, arguments: { sql: "INSERT INTO orders VALUES (1, 'open'), (2, 'open')" } }
actions:
  - { tool: execute_query, arguments: { sql: "UPDATE orders SET status = 'cancelled' WHERE id = 1" } }
script:
  - [{ tool: execute_query, arguments: { sql: "UPDATE orders SET status = 'cancelled' WHERE id = 2" } }]
  - Done.
${assertions('any(state.rows, it[0] == 1 and it[1] == "cancelled")')}`,
  },
  {
    registry: 'PyPI',
    package: 'todo-txt-mcp',
    version: '1.0.2',
    beside: ['mcp<2'],
    bytes: 60e6,
    state: 'todo list in a text file',
    reads: '`list_todos`: the open todos',
    program: 'todo-txt-mcp',
    args: ['${instanceFolder}/todo.txt'],
    start: { 'todo.txt': 'buy bread\n' },
    flags: ['--no-play'],
    edits: { reader: { tool: 'list_todos' }, volatile: ['id', 'modified', 'completion_date', 'todo_txt_line'] },
    task: `user: { goal: You want milk on the list., known: { item: buy milk } }
actions:
  - { tool: add_todo, arguments: { text: buy milk } }
script:
  - [{ tool: add_todo, arguments: { text: buy bread } }]
  - Done.
${assertions('any(state.todos, it.text == "buy milk")')}`,
  },
  {
    registry: 'PyPI',
    package: 'kanbanger',
    version: '3.0.0',
    bytes: 60e6,
    state: 'Kanban board in a Markdown file',
    reads: '`list_tasks`: the cards of a column',
    program: 'kanbanger-mcp',
    env: { KANBANGER_WORKSPACE: '${instanceFolder}' },
    flags: ['--no-play'],
    edits: { reader: { tool: 'list_tasks' }, volatile: ['setup_project'] },
    task: `user: { goal: You want a card to paint the fence., known: { card: Paint the fence } }
setUp: { SERVER: { calls: [{ tool: setup_project }] } }
actions:
  - { tool: add_task, arguments: { title: Paint the fence } }
script:
  - [{ tool: add_task, arguments: { title: Paint the house } }]
  - Done.
${assertions('any(state.TODO, it == "Paint the fence")')}`,
  },
  {
    registry: 'PyPI',
    package: 'office-word-mcp-server',
    version: '1.1.11',
    bytes: 200e6,
    state: 'document in `${instanceFolder}`',
    reads: '`get_document_text` by `lines`: the paragraphs',
    program: 'word_mcp_server',
    http: {
      args: () => [],
      env: (port) => ({ MCP_TRANSPORT: 'streamable-http', MCP_HOST: '127.0.0.1', MCP_PORT: port }),
      path: '/mcp',
    },
    flags: ['--no-play'],
    edits: {
      reader: {
        tool: 'get_document_text',
        arguments: { filename: '${instanceFolder}/letter.docx' },
        lines: '^(?<text>.+)$',
      },
    },
    task: `user: { goal: You want a letter that ends with Best wishes., known: { end: Best wishes } }
setUp: { SERVER: { calls: [{ tool: create_document, arguments: { filename: "\${instanceFolder}/letter.docx" } }] } }
actions:
  - tool: add_paragraph
    arguments: { filename: "\${instanceFolder}/letter.docx", text: Best wishes }
script:
  - - tool: add_paragraph
      arguments: { filename: "\${instanceFolder}/letter.docx", text: Goodbye }
  - Done.
${assertions('any(state, it.text == "Best wishes")')}`,
  },
];
