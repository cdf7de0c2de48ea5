import { expect, test } from 'vitest';
import { hasTextCall } from '../../../../src/engine/core/events/textCall.ts';

const call = '{"name": "find_parcel", "arguments": {"parcel": "P46"}}';

test.each([
  `<tool_call>\n${call}\n</tool_call>`,
  '<tool_call>find_parcel\n<arg_key>parcel</arg_key>\n<arg_value>P46</arg_value>\n</tool_call>',
  '<function=find_parcel>{"parcel": "P46"}</function>',
  `[TOOL_CALLS][${call}]`,
  `<|python_tag|>${call}`,
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find_parcel',
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.find_parcel:0',
  '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "find_parcel", "parameters": {}}]<|END_ACTION|>',
  `functools[${call}]`,
  `[TOOL_REQUEST]${call}[END_TOOL_REQUEST]`,
  '<function_calls><invoke name="find_parcel"></invoke></function_calls>',
  '<|channel|>commentary to=functions.find_parcel <|constrain|>json<|message|>{"parcel":"P46"}<|call|>',
  '```tool_code\nprint(find_parcel(parcel="P46"))\n```',
  `<tool_calls>[${call}]</tool_calls>`,
  `<TOOLCALL>[${call}]</TOOLCALL>`,
  '<|tool_call_start|>[find_parcel(parcel="P46")]<|tool_call_end|>',
  '<seed:tool_call><function=find_parcel></function></seed:tool_call>',
  `<longcat_tool_call>${call}</longcat_tool_call>`,
  `<|action_start|><|plugin|>${call}<|action_end|>`,
  '<｜DSML｜function_calls><｜DSML｜invoke name="find_parcel">',
  'commentary to=functions.find_parcel json{"parcel":"P46"}',
  'Action: ```json\n[{"tool_name": "find_parcel", "parameters": {"parcel": "P46"}}]\n```',
  '{"action": "find_parcel", "action_input": {"parcel": "P46"}}',
  '{"function": "find_parcel", "args": {}}',
  call,
  `I look it up.\n\`\`\`json\n${call}\n\`\`\``,
  `[${call}]`,
  '{"name": "find_parcel", "parameters": {"parcel": "P46"}}',
  `{"type": "function", "function": ${call}}`,
  `{"tool_calls": [{"id": "c", "function": ${call}}]}`,
  'find_parcel(parcel="P46")',
  '[find_parcel(parcel="P46"), find_parcel(parcel="P47")]',
  '```python\nfind_parcel(parcel="P46")\n```',
  '{"find_parcel": {"parcel": "P46"}}',
  '<|tool_call>call:find_parcel{parcel:<|"|>P46<|"|>}<tool_call|>',
  '✿FUNCTION✿: find_parcel\n✿ARGS✿: {}',
  'Thought: I look.\nAction: find_parcel\nAction Input: {"parcel": "P46"}',
])('%j has a call', (text) => expect(hasTextCall(text, ['find_parcel'])).toBe(true));

test.each([
  'It comes on Thursday.',
  'I called find_parcel(P46) for you.',
  '{"name": "P46", "arguments": {}}',
  '{"name": "find_parcel"}',
  '{"find_parcel": "P46"}',
  '{"find_parcel": {}, "note": "seen"}',
  '{"action": "wait", "action_input": {}}',
  'Action: find_parcel it is.',
])('%j has none', (text) => expect(hasTextCall(text, ['find_parcel'])).toBe(false));

test('without tools there are no calls', () => expect(hasTextCall(call, [])).toBe(false));
