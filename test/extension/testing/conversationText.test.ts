import { expect, test } from 'vitest';
import { conversationText } from '../../../src/extension/testing/conversationText.ts';

const call = { id: 'call_1', name: 'get_order', arguments: { order_id: 'W1' } };

test('each step of a conversation is one readable line', () => {
  const events = [
    { type: 'rolloutStarted' },
    { type: 'userReplied', content: 'Hello,\nmy order\u001b[2J W1 is late.' },
    { type: 'agentReplied', content: null, toolCalls: [call] },
    { type: 'rulesChecked', verdicts: [{ rule: 'one-call', verdict: 'held', reason: 'one call' }] },
    { type: 'toolReturned', content: '{"status":"pending"}', isError: false },
    { type: 'agentReplied', content: 'x'.repeat(400), toolCalls: [] },
    { type: 'rulesChecked', verdicts: [{ rule: 'be-brief', verdict: 'violated', reason: 'it was long' }] },
    { type: 'rolloutEnded', reason: 'userStopped' },
    { type: 'rewarded', reward: 0, reason: 'rule be-brief was violated' },
  ];
  expect(conversationText(events as never).split('\n')).toEqual([
    '',
    'user      Hello, my order W1 is late.',
    'agent     calls get_order(order_id: "W1")',
    '',
    'result    status: "pending"',
    `agent     ${'x'.repeat(299)}…`,
    'VIOLATED  be-brief: it was long',
    'end       the user ended the conversation',
    'reward    0: rule be-brief was violated',
  ]);
});
