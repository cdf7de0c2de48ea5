// A support agent written with two published SDKs: its model by `openai`, its tools by `@modelcontextprotocol/sdk`.
// Nothing in it is Rehearsal's but the address of its tools and the lines at the end, by which it is asked and answers.
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import OpenAI from 'openai';

const openai = new OpenAI(); // reads OPENAI_BASE_URL and OPENAI_API_KEY
const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` };
const mcp = new Client({ name: 'sdk-agent', version: '1.0.0' });
await mcp.connect(
  new StreamableHTTPClientTransport(new URL(process.env.REHEARSAL_MCP_URL), { requestInit: { headers } }),
);

// Somebody may look at a breakpoint before a tool returns, so there is an hour for each call.
const patience = { timeout: 3_600_000 };
const { tools } = await mcp.listTools();
const runnable = tools.map(({ name, description, inputSchema }) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: inputSchema,
    parse: JSON.parse,
    function: async (args) => {
      const { content } = await mcp.callTool({ name, arguments: args }, undefined, patience);
      return content.map(({ text }) => text).join('\n');
    },
  },
}));

let messages = [];
for await (const line of createInterface({ input: process.stdin })) {
  const turn = JSON.parse(line);
  messages = messages.length === 0 ? turn.messages : [...messages, turn.messages.at(-1)];
  const runner = openai.chat.completions.runTools({ model: 'lent', messages, tools: runnable });
  const content = await runner.finalContent();
  messages = runner.messages;
  console.log(JSON.stringify({ content }));
}
