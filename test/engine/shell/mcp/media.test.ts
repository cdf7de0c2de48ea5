import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, it, onTestFinished } from 'vitest';
import type { SeatSpec } from '../../../../src/engine/core/domain/seatSpec.ts';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import { type Media, type Modality, partsOf } from '../../../../src/engine/core/values/media.ts';
import { readResult } from '../../../../src/engine/shell/mcp/result.ts';
import { agentBody, withoutMedia } from '../../../../src/engine/shell/models/chatRequest.ts';
import { answerMcp, type ShownResult } from '../../../../src/engine/shell/tools/mcpServer.ts';
import { stepEntry } from '../../../../src/webview/models/trajectory.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { modelServer } from '../../../support/modelServer.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { scriptedMcpServer } from '../../../support/scriptedMcpServer.ts';
import { calling } from '../../../support/scriptedModel.ts';
import { rehearsal } from '../../../support/terminal.ts';

const png = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const wav = { mimeType: 'audio/wav', data: 'UklGRg==' };
const pdf = { mimeType: 'application/pdf', data: 'JVBERg==' };
const text = (words: string) => ({ type: 'text', text: words });
const form = { ...pdf, uri: 'a:b' };
const zip = { mimeType: 'application/zip', data: 'UEsDBA==' };
const blob = { type: 'resource', resource: { uri: form.uri, mimeType: form.mimeType, blob: form.data } };

/**
 * Plays one rollout of a domain whose tool `look` answers with a result.
 * @param more further keys of the task
 */
async function looked(result: object, more = '') {
  const { url } = await scriptedMcpServer({ list: { tools: [{ name: 'look' }] }, call: () => result });
  const domain = mcpDomain(
    'gallery',
    `  gallery: { type: http, url: "${url}" }`,
    `user: { goal: You want to see it., known: { by: 1 } }
script: [[{ tool: look }], Done.]
evaluate: [communicate]
train: [communicate]
communicate: [Done]
${more}`,
  );
  const [rollout] = await rehearse(domain, ['a']);
  if (!rollout) throw new Error('no rollout');
  expect(replayed(domain, rollout).problems).toBe(0);
  return rollout.events.find(({ type }) => type === 'toolReturned');
}

it.each<[string, object, string, readonly Media[] | undefined]>([
  ['a picture', { content: [{ type: 'image', ...png }] }, '[image/png, 1 kB]', [png]],
  ['a sound', { content: [{ type: 'audio', ...wav }] }, '[audio/wav, 1 kB]', [wav]],
  ['a file', { content: [blob] }, '[application/pdf, 1 kB]', [form]],
  [
    'a picture between texts',
    { content: [text('before'), { type: 'image', ...png }, text('after')] },
    'before\n[image/png, 1 kB]\nafter',
    [png],
  ],
  [
    'a picture of no type',
    { content: [{ type: 'image', data: png.data, mimeType: null }] },
    '[application/octet-stream, 1 kB]',
    [{ ...png, mimeType: 'application/octet-stream' }],
  ],
  ['a picture without data', { content: [{ type: 'image' }] }, '{"type":"image"}', undefined],
  [
    'a picture with empty data',
    { content: [{ type: 'image', ...png, data: '' }] },
    '{"type":"image","mimeType":"image/png","data":""}',
    undefined,
  ],
  ['no picture', { content: [text('nothing')] }, 'nothing', undefined],
])('a result with %s is recorded with a line in its place', async (_, result, content, media) => {
  const returned = await looked(result);
  expect(returned).toMatchObject({ content, isError: false });
  const found = returned && 'media' in returned ? returned.media : undefined;
  if (media === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(media);
});

it('a result that a fault replaces has no picture', async () => {
  const fault = 'faults: [{ type: undocumentedResult, tool: look, result: other }]\n';
  const event = await looked({ content: [{ type: 'image', ...png }] }, fault);
  expect(event).toMatchObject({ content: 'other' });
  expect(event).not.toHaveProperty('media');
});

it('a rollout whose model was sent a picture is verified, replayed, and forked with the picture', async () => {
  const { url } = await scriptedMcpServer({
    list: { tools: [{ name: 'look' }] },
    call: () => ({ content: [{ type: 'image', ...png }] }),
  });
  const domain = mcpDomain(
    'gallery',
    `  gallery: { type: http, url: "${url}", state: replay }`,
    `user: { goal: You want to see it., known: { by: 1 } }
evaluate: [communicate]
train: [communicate]
communicate: [Done]
`,
  );
  const model = await modelServer(({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? 'Done.' : calling(['look', {}]),
  );
  const agent: SeatSpec = { type: 'openai', model: 'm', baseUrl: model.url, keyName: null, modalities: ['image'] };
  const [rollout] = await rehearse(domain, ['a'], { agent });
  if (!rollout) throw new Error('no rollout');
  const sent = `data:image/png;base64,${png.data}`;
  expect([rollout.reward, model.bodies.filter((body) => body.includes(sent)).length]).toEqual([1, 1]);
  const at = rollout.events.findLastIndex(({ type }) => type === 'agentReplied');
  const [fork] = await rehearse(domain, ['a'], { agent, from: rollout.events.slice(0, at) });
  if (!fork) throw new Error('no fork');
  expect([fork.reward, model.bodies.filter((body) => body.includes(sent)).length]).toEqual([1, 2]);
  for (const each of [rollout, fork]) {
    expect(replayed(domain, each).problems).toBe(0);
    expect(await rehearsal('verify', each.recording)).toMatchObject({ code: 0 });
  }
});

it.each<[string | null, string, Media | string]>([
  ['image/png', `data:image/png;base64,${png.data}`, png],
  ['image/PNG', png.data, png],
  ['image/png; charset=binary', png.data, png],
  ['image/png', 'iVBORw0K\nGgo=', png],
  ['image/png', 'iVBORw0KGgo', png],
  [null, `data:image/png;base64,${png.data}`, png],
  ['image/png', 'AA-_', { ...png, data: 'AA+/' }],
  ['image/jpg', png.data, { ...png, mimeType: 'image/jpeg' }],
  ['audio/mp3', wav.data, { ...wav, mimeType: 'audio/mpeg' }],
  ['audio/x-wav', wav.data, wav],
  ['image/png', '###', '{"type":"image","mimeType":"image/png","data":"###"}'],
])('%s with the data %j is kept in the form that clients and models take', (mimeType, data, expected) => {
  const { content, media } = readResult({ content: [{ type: 'image', mimeType, data }] });
  if (typeof expected === 'string') expect([content, media]).toEqual([expected, undefined]);
  else expect(media).toMatchObject([expected]);
});

const source = { type: 'base64', media_type: 'image/png', data: png.data };
const asUrl = `data:image/png;base64,${png.data}`;
it.each<[string, object, Media | string]>([
  ['a source', { type: 'image', source }, png],
  [
    'a document',
    { type: 'document', source: { ...source, media_type: 'application/pdf' } },
    { ...png, ...pdf, data: png.data },
  ],
  ['a data URL', { type: 'image_url', image_url: { url: asUrl } }, png],
  ['a data URL as a text', { type: 'image_url', image_url: asUrl }, png],
  ['a sound of a chat', { type: 'input_audio', input_audio: { data: wav.data, format: 'wav' } }, wav],
  ['a file of a chat', { type: 'file', file: { file_data: `data:application/pdf;base64,${pdf.data}` } }, pdf],
  [
    'an address',
    { type: 'image_url', image_url: 'https://a.example/b' },
    '{"type":"image_url","image_url":"https://a.example/b"}',
  ],
])('no model reads the bytes of a picture as a text: %s', (_, part, expected) => {
  const { content, media } = readResult({ content: [part] });
  if (typeof expected === 'string') expect([content, media]).toEqual([expected, undefined]);
  else expect(media).toMatchObject([expected]);
});

const bad = 'A'.repeat(4005);
const spoilt = { mimeType: 'image/png', data: bad, problem: 'not valid Base64' };
const spoiltLine = '[image/png, 4005 characters, not valid Base64]';

it.each<[string, object, Media]>([
  ['data of an impossible length', { type: 'image', mimeType: 'image/png', data: bad }, spoilt],
  [
    'bytes as Python prints them',
    { type: 'image', mimeType: 'image/png', data: `b'${bad}'` },
    { ...spoilt, data: `b'${bad}'` },
  ],
  [
    'data with a comma',
    { type: 'image', data: `,${bad}` },
    { ...spoilt, mimeType: 'application/octet-stream', data: `,${bad}` },
  ],
  [
    'a file of an impossible length',
    { type: 'resource', resource: { uri: 'a:b', mimeType: 'application/pdf', blob: bad } },
    { ...spoilt, mimeType: 'application/pdf', uri: 'a:b' },
  ],
  [
    'a bad data URL',
    { type: 'image_url', image_url: `data:image/png;base64,${bad}` },
    { ...spoilt, data: `data:image/png;base64,${bad}` },
  ],
])('bytes that cannot be read are kept as the server wrote them: %s', (_, part, expected) => {
  const { content, media } = readResult({ content: [part] });
  const line = `[${expected.mimeType}, ${expected.data.length} characters, not valid Base64]`;
  expect([content, media]).toEqual([line, [{ ...expected, line: 0 }]]);
});

it('bytes that cannot be read are recorded, and replay and verify hold', async () => {
  const event = await looked({ content: [{ type: 'image', mimeType: 'image/png', data: bad }] });
  expect(event).toMatchObject({ content: spoiltLine, isError: false, media: [spoilt] });
});

it('a picture keeps its place after a text that is equal to its line', () => {
  const line = '[image/png, 1 kB]';
  const sent = { content: [text(`a\n${line}`), { type: 'image', ...png }, text('b'), { type: 'audio', ...wav }] };
  const { content, media } = readResult(sent);
  expect(content).toBe(`a\n${line}\n${line}\nb\n[audio/wav, 1 kB]`);
  expect(partsOf(content, { media })).toMatchObject([`a\n${line}`, png, 'b', wav]);
  expect(partsOf(`a\n${line}`, { media: [png] }), 'of a recording without lines').toEqual(['a', png]);
});

const returned = (step: number, media?: readonly Media[]): Message => ({
  role: 'tool',
  step,
  callId: `call_${step}`,
  name: 'look',
  content: 'seen',
  isError: false,
  ...(media ? { media } : {}),
});
type Taken = Modality[] | undefined;
const asked = (taken: Taken, messages: readonly Message[]) => {
  const seat = { type: 'openai' as const, model: 'm', baseUrl: 'http://127.0.0.1:1/v1', keyName: null };
  const view = { started: { system: '', tools: [] } as never, messages };
  return agentBody(view, taken ? { ...seat, modalities: taken } : seat);
};

it.each<[string, Taken, readonly (readonly Media[] | undefined)[], readonly string[]]>([
  ['takes text alone', undefined, [[png]], []],
  ['takes pictures', ['image'], [[png, wav, pdf]], ['text', 'image_url']],
  ['takes sounds', ['audio'], [[png, wav, pdf]], ['text', 'input_audio']],
  ['takes both', ['image', 'audio'], [[png], undefined, [wav]], ['text', 'image_url', 'input_audio']],
  ['takes PDFs', ['pdf'], [[png, pdf, zip]], ['text', 'file']],
  ['takes other files', ['file'], [[png, pdf, zip]], ['text', 'file']],
  ['gets none', ['image'], [undefined], []],
  ['would refuse bytes that cannot be read', ['image'], [[spoilt, png]], ['text', 'image_url']],
  ['would get nothing else', ['image'], [[spoilt]], []],
])('a model that %s is sent no others, behind the results', (_, taken, media, kinds) => {
  const { messages } = asked(
    taken,
    media.map((each, step) => returned(step, each)),
  );
  expect(messages.slice(0, media.length)).toEqual(
    media.map((_each, step) => ({ role: 'tool', tool_call_id: `call_${step}`, content: 'seen' })),
  );
  const parts = messages[media.length]?.content as readonly { readonly type: string }[] | undefined;
  expect((parts ?? []).map(({ type }) => type)).toEqual(kinds);
});

it.each<[Media, string]>([
  [pdf, 'file.pdf'],
  [{ ...pdf, uri: 'file:///a/report%201.pdf?v=2#page' }, 'report%201.pdf'],
  [{ ...pdf, uri: 'orders://1/invoice' }, 'file.pdf'],
  [{ ...zip, mimeType: 'application/vnd.oasis.opendocument.text' }, 'file.text'],
  [{ ...zip, mimeType: 'image/svg+xml' }, 'file.xml'],
])('a model that takes files is sent %j as %s', (file, filename) => {
  const { messages } = asked(['pdf', 'file'], [returned(0, [file])]);
  const file_data = `data:${file.mimeType};base64,${file.data}`;
  expect(messages.at(-1)?.content).toEqual([expect.anything(), { type: 'file', file: { filename, file_data } }]);
});

it('a call goes back to its model with the number that it wrote', () => {
  const large = '9007199254740993';
  const parameters = { type: 'object', properties: { id: { type: 'integer' } } };
  const call = { id: 'c', name: 'look', arguments: { id: large } };
  const message = { role: 'agent' as const, step: 1, content: '', toolCalls: [call] };
  const view = {
    started: { system: '', tools: [{ name: 'look', description: '', parameters }] } as never,
    messages: [message],
  };
  const { messages } = agentBody(view, { type: 'openai', model: 'm', baseUrl: 'http://127.0.0.1:1/v1', keyName: null });
  expect(messages).toMatchObject([{ tool_calls: [{ function: { arguments: `{"id":${large}}` } }] }]);
});

it('the sidecar keeps a request without the bytes of its media', () => {
  const kept = JSON.stringify(withoutMedia(asked(['image', 'audio', 'pdf'], [returned(0, [png, wav, pdf])])));
  for (const { mimeType, data } of [png, wav, pdf]) {
    expect(kept).toContain(`[${mimeType}, 1 kB]`);
    expect(kept).not.toContain(data);
  }
});

it.each<[string, readonly Media[], readonly (string | Media)[]]>([
  ['seen', [], ['seen']],
  ['a\n[image/png, 1 kB]\nb\nc', [png], ['a', png, 'b\nc']],
  ['[image/png, 1 kB]\n[image/png, 1 kB]', [png, png], [png, png]],
  ['edited by a person', [png], ['edited by a person', png]],
])('%j has its media where its tool gave them', (content, media, parts) => {
  expect(partsOf(content, { media })).toEqual(parts);
});

/** Returns what a client of a domain gets for a result. */
async function givenTo(result: ShownResult): Promise<unknown> {
  const shown = {
    tools: [{ name: 'look', description: '', parameters: { type: 'object' } }],
    instructions: '',
    call: async () => result,
  };
  const server = createServer(async (request, response) =>
    answerMcp(request, response, request.method === 'POST' ? await json(request) : undefined, shown),
  );
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  const { port } = server.address() as AddressInfo;
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}`)) as Transport);
  return client.callTool({ name: 'look', arguments: {} });
}

const contentGivenTo = async (result: ShownResult) =>
  ((await givenTo(result)) as { readonly content: unknown }).content;

it('a client of a domain gets pictures, sounds and files as they are', async () => {
  const content = 'before\n[image/png, 1 kB]\n[audio/wav, 1 kB]\n[application/pdf, 1 kB]\n[application/pdf, 1 kB]';
  expect(await contentGivenTo({ content, isError: false, media: [png, wav, pdf, form] })).toEqual([
    text('before'),
    { type: 'image', ...png },
    { type: 'audio', ...wav },
    { type: 'resource', resource: { uri: 'data:application/pdf', mimeType: pdf.mimeType, blob: pdf.data } },
    blob,
  ]);
});

const file = { type: 'resource', resource: { uri: 'a:b', mimeType: 'text/plain', text: 'one\ntwo' } };
const link = { type: 'resource_link', uri: 'a:b', name: 'b' };

it.each<[string, readonly object[]]>([
  ['a file with a text', [file]],
  ['a link between texts', [text('see'), link, text('and\nthis')]],
  ['a text that is the JSON of a file', [text(`see\n${JSON.stringify(file)}\n{"type":"resource"}`)]],
  ['a text like a link beside that link', [text(JSON.stringify(link)), link]],
  ['several texts', [text('a'), text('b\nc'), { type: 'image', ...png }, text('d')]],
  [
    'a picture with an address',
    [{ type: 'resource', resource: { uri: 'file:///a.png', mimeType: 'image/png', blob: png.data } }],
  ],
  [
    'annotated parts',
    [
      { ...text('a'), annotations: { priority: 1 } },
      { type: 'image', ...png, annotations: { audience: ['user'] } },
      text('b'),
    ],
  ],
])('a client of a domain gets %s as its server returned it', async (_, parts) => {
  expect(await contentGivenTo(readResult({ content: parts }))).toEqual(parts);
});

it('a client of a domain gets a file that it would refuse as its JSON', async () => {
  const refused = { type: 'resource', resource: { uri: 1 } };
  expect(await contentGivenTo(readResult({ content: [refused] }))).toEqual([text(JSON.stringify(refused))]);
});

it('a client of a domain gets a line in place of bytes that it would refuse', async () => {
  const content = `seen\n${spoiltLine}`;
  expect(await contentGivenTo({ content, isError: false, media: [{ ...spoilt, line: 1 }] })).toEqual([
    text('seen'),
    text(spoiltLine),
  ]);
});

it.each<[string, Media, boolean]>([
  ['a picture', png, true],
  ['an SVG, which can run a script', { mimeType: 'image/svg+xml', data: png.data }, false],
  ['a sound', wav, false],
  ['data that is not base64', { ...png, data: '"onerror="x' }, false],
  ['a picture of 20 MB', { ...png, data: 'A'.repeat(20_000_000) }, false],
  ['bytes that cannot be read', spoilt, false],
])('the trajectory view is right about %s', (_, media, isShown) => {
  const event = { type: 'toolReturned' as const, callId: 'c', content: 'seen', isError: false, media: [media] };
  expect(stepEntry({ n: 1, event }).pictures).toEqual(
    isShown ? [{ source: `data:image/png;base64,${png.data}`, text: 'A picture of the type image/png' }] : [],
  );
});

it('a client of a domain gets the structured content without annotations that it would refuse', async () => {
  const part = { ...text('one row'), annotations: { audience: 'everybody' } };
  const result = readResult({ content: [part], structuredContent: { rows: [{ id: 1 }] } });
  expect(await givenTo(result)).toEqual({
    content: [text('one row')],
    structuredContent: { rows: [{ id: 1 }] },
    isError: false,
  });
});

const image = { type: 'image', ...png };
it.each<[string, object, string]>([
  ['is the parts', { content: [image] }, '[image/png, 1 kB]'],
  ['is the only part', { picture: image }, '[image/png, 1 kB]'],
  ['has the bytes', { width: 2, data: png.data }, '{"width":2,"data":"[image/png, 1 kB]"}\n[image/png, 1 kB]'],
  ['has them in lines', { data: 'iVBORw\n0KGgo=', b: 1 }, '{"data":"[image/png, 1 kB]","b":1}\n[image/png, 1 kB]'],
  ['has other data', { width: 2 }, '{"width":2}\n[image/png, 1 kB]'],
])('no model reads the bytes of a picture in structured content that %s', (_, structuredContent, content) => {
  const result = readResult({ content: [image], structuredContent });
  expect(result).toMatchObject({ content, media: [png], structured: JSON.stringify(structuredContent) });
});
