import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { personsIn } from '../../../src/authoring/conversations/declaredPersons.ts';
import { logsInFolder } from '../../../src/authoring/conversations/logFolder.ts';
import { piecesOf, piecesOfPersons } from '../../../src/authoring/conversations/maskedConversation.ts';
import { readConversations } from '../../../src/authoring/conversations/readConversations.ts';
import { maskerOf } from '../../../src/authoring/masking/masker.ts';
import type { Json } from '../../../src/engine/core/values/json.ts';
import { jsonl } from '../../support/chatLog.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const said = 'Quillivane ordered it, Tamblyn answered.';
const slackMessage = { type: 'message', ts: '1700000001.000100', user: 'U1', text: said };
const messages = [{ role: 'user', content: said }];
const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });

/** Returns what was said in the conversations of some files, masked as an import does it. */
async function maskedIn(files: Readonly<Record<string, string>>, source: 'chats' | 'spans'): Promise<string> {
  const folder = temporaryFolder('declared');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const read = await readConversations(logsInFolder(folder).files, source);
  const masker = maskerOf({ seed: 'x' });
  masker.look(piecesOfPersons(read));
  const texts = read.conversations.map((each) => {
    const { json } = masker.conversation(piecesOf(each));
    return JSON.stringify(json(each.messages as unknown as Json));
  });
  expect(texts).not.toEqual([]);
  return texts.join('\n');
}

test.each([
  [
    'authors of Intercom',
    'chats',
    {
      'log.jsonl': jsonl({
        source: { body: said, author: { type: 'user', name: 'Orla Quillivane (VIP)' } },
        conversation_parts: [{ part_type: 'comment', body: said, author: { type: 'admin', name: 'Tamblyn' } }],
      }),
    },
  ],
  [
    'people of a Zendesk ticket',
    'chats',
    {
      'log.jsonl': jsonl({
        requester: { id: 7, name: 'Orla Quillivane' },
        assignee: { id: 8, name: 'Odo Tamblyn' },
        comments: [{ author_id: 7, plain_body: said }],
      }),
    },
  ],
  [
    'profiles of Slack',
    'chats',
    {
      'log.json': JSON.stringify([
        { ...slackMessage, user_profile: { real_name: 'Orla Quillivane', display_name: 'Tamblyn' } },
      ]),
    },
  ],
  [
    'users.json of Slack',
    'chats',
    {
      'users.json': JSON.stringify([
        { id: 'U1', team_id: 'T1', name: 'quillivane', profile: { real_name: 'Orla Quillivane' } },
        { id: 'U2', team_id: 'T1', profile: { display_name: 'tamblyn' } },
      ]),
      'help/2024-01-01.json': JSON.stringify([slackMessage]),
    },
  ],
  [
    'metadata of a chat',
    'chats',
    {
      'log.jsonl': jsonl({ messages, metadata: { customer: { name: 'Orla Quillivane' }, agent_name: 'Odo Tamblyn' } }),
    },
  ],
  [
    'the name in metadata',
    'chats',
    { 'log.jsonl': jsonl({ messages, metadata: { name: 'Orla Quillivane', seller: { from: { name: 'tamblyn' } } } }) },
  ],
  [
    'names of messages',
    'chats',
    {
      'log.jsonl': jsonl({
        messages: [
          { ...messages[0], name: 'quillivane' },
          { role: 'assistant', name: 'Odo_Tamblyn', content: said },
        ],
      }),
    },
  ],
  [
    'columns of CSV',
    'chats',
    { 'log.csv': `conversation_id,role,content,customer_name,agent_name\n1,user,"${said}",Quillivane,Tamblyn\n` },
  ],
  [
    'authors of rows',
    'chats',
    {
      'log.jsonl': jsonl(
        { conversation_id: '1', ...messages[0], author_name: 'Orla Quillivane' },
        { conversation_id: '1', role: 'agent', content: said, author_name: 'Tamblyn' },
      ),
    },
  ],
  [
    'users of Langfuse',
    'spans',
    {
      'log.jsonl': jsonl({
        ...{ id: '1', traceId: 't', type: 'GENERATION', startTime: '2026-01-01T00:00:00Z', userId: 'orla.quillivane' },
        ...{ metadata: { operator: 'Odo Tamblyn' }, input: messages, output: said },
      }),
    },
  ],
  [
    'users of spans',
    'spans',
    {
      'log.jsonl': jsonl({
        resourceSpans: [
          {
            scopeSpans: [
              {
                spans: [
                  {
                    ...{ traceId: 't', spanId: 's', name: 'chat', startTimeUnixNano: '1' },
                    attributes: [
                      attribute('enduser.id', 'Odo Tamblyn'),
                      attribute('gen_ai.input.messages', JSON.stringify([{ ...messages[0], name: 'Quillivane' }])),
                    ],
                  },
                ],
              },
            ],
          },
        ],
      }),
    },
  ],
] as const)('masks persons that a log declares outside of its messages: %s', async (_, source, files) => {
  const text = await maskedIn(files, source);
  expect(text).toContain('ordered it');
  expect(text).not.toMatch(/quillivane|tamblyn/i);
});

test.each([
  { messages: [{ role: 'assistant', name: 'Concierge', content: '' }] },
  { messages: [{ role: 'user', name: 'example_user', content: '' }] },
  { messages: [{ role: 'tool', name: 'search', content: '' }], metadata: { name: 'Order Desk' } },
  { messages: [{ role: 'system', name: 'Instructions', content: '' }] },
  { metadata: { product: { name: 'Brass Lamp' }, model_name: 'Large', agent_name: 'Billing Agent', user: 'web' } },
  { source: { author: { type: 'bot', name: 'Fin' } }, contact: { name: 'Support Team' } },
  { attributes: [attribute('gen_ai.agent.name', 'Triage'), attribute('gen_ai.request.model', 'Large')] },
  { trace_id: 'abc-1234', userId: 'default', session: { id: 'session-17' } },
])('names of roles, programs and things are not of persons: %j', (value) => {
  expect(personsIn(value).flatMap(({ name }) => name ?? [])).toEqual([]);
});
