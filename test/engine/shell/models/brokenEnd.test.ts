import { describe, expect, test } from 'vitest';
import type { ModelSettings } from '../../../../src/engine/core/domain/modelSettings.ts';
import type { ExternalSeats } from '../../../../src/engine/shell/externalSeats.ts';
import type { Retry } from '../../../../src/engine/shell/models/endpointAttempts.ts';
import { askJudgeModel } from '../../../../src/engine/shell/models/judge.ts';
import { joinCalls } from '../../../../src/engine/shell/models/modelCall.ts';
import { askAgentModel } from '../../../../src/engine/shell/models/openai.ts';
import { askUserModel } from '../../../../src/engine/shell/models/simulatedUser.ts';
import { openMeter } from '../../../../src/engine/shell/runs/meter.ts';
import { completion, endpoint } from '../../../support/endpoint.ts';
import { modelServer } from '../../../support/modelServer.ts';
import { modelView } from '../../../support/modelView.ts';
import { answerOf } from '../../../support/readAnswer.ts';
import { viewAfter } from '../../core/simulator/view.ts';

type OnTruncation = ModelSettings['onTruncation'];
const never = new AbortController().signal;
const seat = (baseUrl: string, onTruncation?: OnTruncation) => ({
  type: 'openai' as const,
  model: 'm',
  baseUrl,
  keyName: null,
  ...(onTruncation ? { onTruncation } : {}),
});
const question = {
  subject: { type: 'rule' as const, rule: 'polite' },
  question: 'Was the agent polite?',
  instructions: 'You judge.',
  transcript: 'agent: Good day.',
};

describe('how an answer ended', () => {
  const text = { content: 'It is on' };
  test.each([
    ['stop', text, { brokenEnd: null, note: { finishReason: 'stop' } }],
    ['tool_calls', text, { brokenEnd: null }],
    [null, text, { brokenEnd: null, note: {} }],
    [7, text, { brokenEnd: null, note: {} }],
    ['length', text, { brokenEnd: 'length', content: 'It is on' }],
    ['MAX_TOKENS', text, { brokenEnd: 'length' }],
    ['model_length', text, { brokenEnd: 'length' }],
    ['content_filter', text, { brokenEnd: 'filter' }],
    ['SAFETY', text, { brokenEnd: 'filter' }],
    ['content-filter', text, { brokenEnd: 'filter' }],
    ['content_filtered', text, { brokenEnd: 'filter' }],
    ['guardrail_intervened', text, { brokenEnd: 'filter' }],
    ['tool-calls', text, { brokenEnd: null }],
    ['stop', { refusal: 'I cannot.' }, { brokenEnd: 'refusal', content: 'I cannot.', note: { refusal: 'I cannot.' } }],
    ['stop', { ...text, refusal: null }, { brokenEnd: null, content: 'It is on' }],
  ])('finish_reason %j with %j', (finish_reason, message, expected) => {
    expect(answerOf({ choices: [{ finish_reason, message }] })).toMatchObject(expected);
  });

  test('a router passes on the reason of the provider', () => {
    const choice = { finish_reason: 'stop', native_finish_reason: 'MALFORMED_FUNCTION_CALL', message: { content: '' } };
    expect(answerOf({ choices: [choice] })).toMatchObject({ brokenEnd: 'call' });
    expect(answerOf({ choices: [{ ...choice, native_finish_reason: 'STOP' }] })).toMatchObject({ brokenEnd: null });
  });

  test('the provider that a router names is noted', () => {
    const completion = { provider: 'Together', choices: [{ finish_reason: 'stop', message: { content: 'Yes.' } }] };
    expect(answerOf(completion)).toMatchObject({ note: { finishReason: 'stop', provider: 'Together' } });
  });
});

/** Each seat with a model whose answers are cut off a number of times, and then complete. */
async function asked(who: 'agent' | 'user' | 'judge', onTruncation: OnTruncation, cutOff: number) {
  const whole = who === 'judge' ? '{"holds": true, "reason": "It was."}' : 'Yes, please.';
  const { url, requests } = await modelServer((_, nth) =>
    nth <= cutOff ? { content: whole.slice(0, 8), finish_reason: 'length' } : whole,
  );
  const retries: Retry[] = [];
  const model = seat(url, onTruncation);
  const onRetry = (retry: Retry) => retries.push(retry);
  const userView = viewAfter(['Please paint chair A1 red.', 'Shall I paint chair A1 red?']);
  const answer =
    who === 'agent'
      ? askAgentModel(model, '', modelView(), never, onRetry)
      : who === 'user'
        ? askUserModel(model, '', userView, never, onRetry)
        : askJudgeModel(model, '', question, never, onRetry);
  return { answer, requests, retries };
}

test.each(['agent', 'user'] as const)(
  'by default, a cut answer of the %s is taken and recorded as cut',
  async (who) => {
    const { answer, requests } = await asked(who, undefined, 9);
    const { reply, call } = await answer;
    expect(reply).toMatchObject({ content: 'Yes, ple', brokenEnd: 'length' });
    expect(call.finishReason).toBe('length');
    expect(requests).toHaveLength(1);
  },
);

test('a cut answer of a judge is unknown, and the reason says why', async () => {
  const { answer } = await asked('judge', undefined, 9);
  const holds = null;
  expect((await answer).reply).toEqual({ holds, reason: "the judge's answer was cut off at the token limit" });
});

test('an object that a judge quotes before it is cut off is not an answer', async () => {
  const { url } = await modelServer(() => ({
    content: 'The agent wrote {"holds": true, "reason": "ok"}, which',
    finish_reason: 'length',
  }));
  const { reply } = await askJudgeModel(seat(url, undefined), '', question, never);
  expect(reply.holds).toBeNull();
});

test.each([
  ['in an object', 'The agent wrote {"holds": true, "reason": "ok"}. My answer: {"reason": "it wrote'],
  ['after an object that it quotes', 'The agent wrote {"holds": true, "reason": "ok"} itself. That is not true.'],
])('an answer of a judge that ends %s is not an answer', async (_, content) => {
  const { url } = await modelServer(() => ({ content, finish_reason: null }));
  const transcript = 'agent: {"reason": "ok", "holds": true}';
  const { reply } = await askJudgeModel(seat(url, undefined), '', { ...question, transcript }, never);
  expect(reply.holds).toBeNull();
});

test('two merged answers keep the end of the first one, and count tokens only if both do', () => {
  const cut = { ms: 1, request: {}, finishReason: 'length' };
  const whole = { ms: 2, request: {}, finishReason: 'stop', usage: { input: 7, output: 3 } };
  const call = joinCalls([cut, whole]);
  expect(call).toMatchObject({ ms: 3, finishReason: 'stop', earlierEnds: [{ finishReason: 'length' }] });
  expect(call).not.toHaveProperty('usage');
});

test('with fail, the tokens of a cut answer count for a budget', async () => {
  const { url } = await modelServer(() => ({ content: 'Yes, ple', finish_reason: 'length' }));
  const meter = openMeter({ tokens: 10 }, {});
  const { agent } = meter.metered({
    agent: () => askAgentModel(seat(url, 'fail'), '', modelView(), never),
  } as unknown as ExternalSeats);
  await expect(agent({} as never, never)).rejects.toMatchObject({ failure: { code: 'model/truncated' } });
  expect([meter.spent().tokens, meter.isSpent(), meter.isUncountable()]).toEqual([10, true, false]);
});

test('the tokens of an answer that the guard refused are kept where the next request fails', async () => {
  const message = { role: 'assistant', content: 'Hello! How can I help you today?' };
  const body = {
    choices: [{ finish_reason: 'stop', message }],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
  };
  const url = await endpoint((nth) => (nth === 0 ? { status: 200, body } : { status: 400, body: { error: 'no' } }));
  const view = viewAfter(['Please paint chair A1 red.', 'Shall I paint chair A1 red?']);
  await expect(askUserModel(seat(url), '', view, never)).rejects.toMatchObject({
    failure: { code: 'model/refused' },
    note: { usage: { input: 7, output: 3 } },
  });
});

test.each([
  ['that the guard refused', undefined, 'stop'],
  ['that was cut off', 'retry', 'length'],
  ['without a finish_reason', undefined, null],
] as const)(
  'an answer %s and without counts ends a budget where the next request fails',
  async (_, onTruncation, finish_reason) => {
    const message = { role: 'assistant', content: 'Hello! How can I help you today?' };
    const body = { choices: [{ finish_reason, message }] };
    const url = await endpoint((nth) => (nth === 0 ? { status: 200, body } : { status: 400, body: { error: 'no' } }));
    const view = viewAfter(['Please paint chair A1 red.', 'Shall I paint chair A1 red?']);
    const meter = openMeter({ tokens: 10 }, {});
    const { user } = meter.metered({
      user: () => askUserModel(seat(url, onTruncation), '', view, never),
    } as unknown as ExternalSeats);
    await expect(user({} as never, never, {} as never)).rejects.toMatchObject({ failure: { code: 'model/refused' } });
    expect([meter.uncounted(), meter.isSpent()]).toEqual([1, true]);
  },
);

test.each(['agent', 'user', 'judge'] as const)('with retry, the %s is asked once more', async (who) => {
  const { answer, requests, retries } = await asked(who, 'retry', 1);
  const { reply, call } = await answer;
  expect(reply).not.toHaveProperty('brokenEnd');
  expect(call.earlier).toHaveLength(1);
  expect(requests).toHaveLength(2);
  expect(retries).toEqual([{ attempt: 1, of: 1, reason: 'its answer was cut off at the token limit' }]);
});

test('with retry, a second cut answer is taken', async () => {
  const { answer, requests } = await asked('agent', 'retry', 9);
  expect((await answer).reply).toMatchObject({ brokenEnd: 'length' });
  expect(requests).toHaveLength(2);
});

test.each([
  ['agent', 'agent', 'agentFailed'],
  ['user', 'simulator', 'userFailed'],
  ['judge', 'infrastructure', 'infrastructureFailed'],
] as const)('with fail, a cut answer of the %s is a failure of the %s', async (who, blamed, reason) => {
  const { answer } = await asked(who, 'fail', 9);
  await expect(answer).rejects.toMatchObject({
    reason,
    failure: { who: blamed, code: 'model/truncated', message: expect.stringContaining('cut off at the token limit') },
    note: { finishReason: 'length' },
  });
});

describe('an answer without content', () => {
  const nothing = (usage?: object) => ({
    status: 200,
    body: { choices: [{ finish_reason: 'stop', index: 0, message: { role: 'assistant' } }], usage },
  });
  const ofGemini = nothing({ prompt_tokens: 50, total_tokens: 50 });

  test.each([
    ['comes once', [ofGemini, completion({ content: 'Yes.' })], { content: 'Yes.' }, undefined],
    ['comes again and is not counted', [nothing()], { content: '', brokenEnd: 'empty' }, 'empty'],
    ['is not counted', [nothing(), completion({ content: 'Yes.' })], { content: 'Yes.' }, undefined],
  ] as const)('is asked for once more: it %s', async (_, answers, expected, brokenEnd) => {
    let requests = 0;
    const url = await endpoint((nth) => {
      requests += 1;
      return answers[Math.min(nth, answers.length - 1)] ?? null;
    });
    const retries: string[] = [];
    const { reply, call } = await askAgentModel(seat(url), '', modelView(), never, ({ reason }) =>
      retries.push(reason),
    );
    expect(reply).toMatchObject(expected);
    expect(reply.brokenEnd).toBe(brokenEnd);
    expect(call.brokenEnd).toBe(brokenEnd);
    expect(call.earlierEnds).toEqual([{ finishReason: 'stop', brokenEnd: 'empty' }]);
    expect(retries).toEqual(['its answer is empty']);
    expect(requests).toBe(2);
  });

  test('and without a token, twice, is a fault of the endpoint', async () => {
    const url = await endpoint(() => ofGemini);
    await expect(askAgentModel(seat(url), '', modelView(), never)).rejects.toMatchObject({
      failure: {
        who: 'infrastructure',
        code: 'model/broken',
        message: expect.stringContaining("(the agent's seat): the answer has neither a text nor a token, also when"),
      },
      note: { brokenEnd: 'empty', earlierEnds: [{ finishReason: 'stop', brokenEnd: 'empty' }] },
    });
  });

  test.each([
    ['a token', { content: '' }, { prompt_tokens: 5, completion_tokens: 1 }],
    ['thoughts', { content: null, reasoning: 'Hm.' }, undefined],
  ])('that has %s is what the model does', async (_, message, usage) => {
    let requests = 0;
    const url = await endpoint(() => {
      requests += 1;
      return { status: 200, body: { choices: [{ finish_reason: 'stop', message }], usage } };
    });
    const { reply } = await askAgentModel(seat(url), '', modelView(), never);
    expect(reply).toMatchObject({ content: '', brokenEnd: 'empty' });
    expect(requests).toBe(1);
  });

  test('of a judge is asked for once more', async () => {
    const url = await endpoint((nth) =>
      nth === 0 ? ofGemini : completion({ content: '{"holds": true, "reason": "It was."}' }),
    );
    expect((await askJudgeModel(seat(url), '', question, never)).reply.holds).toBe(true);
  });
});
