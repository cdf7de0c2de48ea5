import { expect, test } from 'vitest';
import type { JudgeQuestion } from '../../../src/engine/core/rollout/judgement.ts';
import { answerQuestion, externalSeatsOf, type ToolReach } from '../../../src/engine/shell/externalSeats.ts';
import { askJudgeModel } from '../../../src/engine/shell/models/judge.ts';
import { completion, endpoint } from '../../support/endpoint.ts';
import { modelServer } from '../../support/modelServer.ts';

const question: JudgeQuestion = {
  subject: { type: 'rule', rule: 'polite' },
  question: 'Was the agent polite?',
  instructions: 'You judge.',
  transcript: 'customer: Hi\nagent: Good day.',
};

// A judge needs no tool.
const nothing = {} as ToolReach;

/** Asks a judge at an endpoint that answers with this text. */
async function judged(text: string) {
  const { url: baseUrl, requests } = await modelServer(() => text);
  const judge = { type: 'openai', model: 'j', baseUrl, keyName: 'KEY' } as const;
  const gold = { type: 'gold' } as const;
  const externalSeats = externalSeatsOf(
    gold,
    gold,
    () => 'k',
    () => Promise.reject(new Error('no person is asked')),
    judge,
  );
  const about = { type: 'judge', question } as const;
  const { answer, note } = await answerQuestion(about, externalSeats, nothing, new AbortController().signal);
  return { answer, note, asked: requests[0] };
}

test('a judge is asked with the policy, the conversation and the question, and its call is kept', async () => {
  const { answer, note, asked } = await judged('{"holds": true, "reason": "it said good day"}');
  expect(answer).toEqual({ holds: true, reason: 'it said good day' });
  expect(note?.request).toMatchObject({ model: 'j', temperature: 0 });
  expect(asked?.messages).toEqual([
    { role: 'system', content: 'You judge.' },
    { role: 'user', content: 'customer: Hi\nagent: Good day.\n\nQuestion: Was the agent polite?' },
  ]);
});

test('a judge is asked for JSON of its schema, or without a schema if its endpoint refuses it', async () => {
  const { asked } = await judged('{"reason": "it said good day", "holds": true}');
  expect(asked).toMatchObject({
    response_format: { type: 'json_schema', json_schema: { name: 'judgement', strict: true } },
  });
  const refusals = [
    'This response_format type is unavailable now',
    'json_schema is not supported',
    'Unknown name "response_format"',
  ];
  for (const message of refusals) {
    const bodies: object[] = [];
    const url = await endpoint((_, body) => {
      bodies.push(JSON.parse(body));
      if (bodies.length === 1) return { status: 400, body: { error: { message } } };
      return completion({ content: '{"holds": true, "reason": "it said good day"}' });
    });
    const seat = { type: 'openai', model: 'j', baseUrl: url, keyName: null } as const;
    const { reply, call } = await askJudgeModel(seat, '', question, new AbortController().signal);
    expect(reply.holds).toBe(true);
    expect(call.adapted).toEqual(['without response_format']);
    expect(bodies[1]).not.toHaveProperty('response_format');
  }
});

test('an unclear answer is never a yes', async () => {
  expect((await judged('Certainly, very polite!')).answer).toEqual({
    holds: null,
    reason: 'the judge gave no clear answer',
  });
});

test('only a model can judge', async () => {
  const gold = { type: 'gold' } as const;
  const externalSeats = externalSeatsOf(
    gold,
    gold,
    () => 'k',
    () => Promise.reject(new Error('no person is asked')),
    { type: 'human' },
  );
  const { answer } = await answerQuestion(
    { type: 'judge', question },
    externalSeats,
    nothing,
    AbortSignal.timeout(1000),
  );
  expect(answer).toEqual({ holds: null, reason: 'only a model can judge' });
});
