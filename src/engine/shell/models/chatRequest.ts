import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import type { Offered } from '../../core/domain/tool.ts';
import { type Message, offeredNow } from '../../core/events/message.ts';
import type { SeatView, UserView } from '../../core/seats/seat.ts';
import { type SimulatorMessage, simulatorChat } from '../../core/simulator/prompt.ts';
import { silence } from '../../core/simulator/turns.ts';
import { fileName, type Media, type Modality, modalityOf } from '../../core/values/media.ts';
import type { ProvidedMessage } from '../../core/values/providerFields.ts';
import { offered, sentCalls, withSentNames } from './chatCalls.ts';
import type { ChatBody, ChatMessage, ChatPart, ChatRequest, SentMessage } from './chatMessage.ts';
import { mediaLine, mediaPartSchema } from './mediaLine.ts';
import { withSentBack } from './sentBack.ts';

/** Returns the body that a model is sent, with the settings of its seat. */
export function requestTo(seat: ModelSeat, body: ChatBody): ChatRequest {
  return {
    model: seat.model,
    ...body,
    ...(seat.temperature === undefined ? {} : { temperature: seat.temperature }),
    ...(seat.maxTokens === undefined ? {} : { max_tokens: seat.maxTokens }),
    ...(seat.reasoningEffort === undefined ? {} : { reasoning_effort: seat.reasoningEffort }),
    ...seat.extraBody,
  };
}

/** Returns what a model in the agent's seat is asked with. */
export function agentBody(view: Pick<SeatView, 'started' | 'messages'>, seat: ModelSeat): ChatBody {
  const tools = offered(offeredNow(view.started.tools, view.messages));
  const chat = chatOf(view).map((message) => withSentNames(message, tools));
  const before = chat.length - view.messages.length;
  const answered = withSentBack(chat, seat, (at) => answerOf(view.messages[at - before]));
  const messages = answered.flatMap((message, at) => [
    withSilence(message),
    ...mediaAfter(view.messages, at - before, seat.modalities ?? []),
  ]);
  return { messages, ...(tools.length > 0 ? { tools } : {}) };
}

/** Fills a message that says nothing, which Mistral and Anthropic refuse. A gateway knows its own by their identity. */
function withSilence(message: SentMessage): SentMessage {
  const isEmpty = message.role === 'assistant' && message.content === '' && !message.tool_calls;
  return isEmpty && !('rehearsal_id' in message) ? { ...message, content: silence } : message;
}

function answerOf(message: Message | undefined): ProvidedMessage | undefined {
  return message?.role === 'tool' ? undefined : message;
}

/**
 * Returns what a model in the user's seat is asked with.
 * @param problem what was wrong with its answer, where it is asked again
 */
export function userBody(view: UserView, seat: ModelSeat, problem: string | null = null): ChatBody {
  const tools = offered(view.started.userTools ?? []);
  const chat = simulatorChat(view, problem);
  const sent = chat.map((message) => withSentNames(userMessage(message), tools));
  const messages = withSentBack(sent, seat, (at) => {
    const message = chat[at];
    return message?.role === 'assistant' ? message.answer : undefined;
  });
  return { messages, ...(tools.length > 0 ? { tools } : {}) };
}

/** The conversation as the agent's seat sees it, in OpenAI's format. */
export function chatOf({ started, messages }: Pick<SeatView, 'started' | 'messages'>): ChatMessage[] {
  return [
    ...(started.system === '' ? [] : [{ role: 'system' as const, content: started.system }]),
    ...(started.greeting === undefined ? [] : [{ role: 'assistant' as const, content: started.greeting }]),
    ...messages.map((message) => agentMessage(message, started.tools)),
  ];
}

/**
 * The media of the results of a response, in a message behind the last of them: in OpenAI's format the message of a result
 * has text alone.
 */
function mediaAfter(messages: readonly Message[], at: number, taken: readonly Modality[]): readonly ChatMessage[] {
  if (taken.length === 0 || messages[at]?.role !== 'tool' || messages[at + 1]?.role === 'tool') return [];
  const first = messages.slice(0, at + 1).findLastIndex(({ role }) => role !== 'tool') + 1;
  const parts = messages.slice(first, at + 1).flatMap((message) => {
    const media = message.role === 'tool' ? (message.media ?? []) : [];
    return media.filter((each) => !each.problem && taken.includes(modalityOf(each))).map(mediaPart);
  });
  if (parts.length === 0) return [];
  return [{ role: 'user', content: [{ type: 'text', text: 'The media of the results above:' }, ...parts] }];
}

function mediaPart(media: Media): ChatPart {
  const { mimeType, data } = media;
  const url = `data:${mimeType};base64,${data}`;
  switch (modalityOf(media)) {
    case 'image':
      return { type: 'image_url', image_url: { url } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data, format: mimeType === 'audio/wav' ? 'wav' : 'mp3' } };
    default:
      return { type: 'file', file: { filename: fileName(media), file_data: url } };
  }
}

/** Returns a request as the sidecar keeps it: the recording has the bytes of media already. */
export function withoutMedia<Request extends ChatBody>(request: Request): Request {
  const messages = request.messages.map((message) => {
    const { role, content } = message;
    return role !== 'user' || !content || typeof content === 'string'
      ? message
      : { ...message, content: content.map(shortPart) };
  });
  return { ...request, messages };
}

/** A part that a custom agent has written can be of any other form, and is then kept as it is. */
function shortPart(part: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = mediaLine(part);
  const { data: media } = mediaPartSchema.safeParse(part);
  if (text === undefined || !media) return part;
  switch (media.type) {
    case 'input_audio':
      return { type: 'input_audio', input_audio: { data: text, format: media.input_audio.format } };
    case 'file':
      return { type: 'file', file: { ...media.file, file_data: text } };
    default:
      return { type: 'image_url', image_url: { url: text } };
  }
}

/** The conversation as a model that plays the user sees it, its instructions first, in OpenAI's format. */
export function userChatOf(view: UserView): ChatMessage[] {
  return simulatorChat(view).map(userMessage);
}

function agentMessage(message: Message, tools: readonly Offered[]): ChatMessage {
  if (message.role === 'user') return { role: 'user', content: message.content };
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content };
  const calls = sentCalls(message.toolCalls, tools);
  return {
    role: 'assistant',
    content: message.content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(message.messageId ? { rehearsal_id: message.messageId } : {}),
  };
}

function userMessage(message: SimulatorMessage): ChatMessage {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content,
        ...(message.toolCalls ? { tool_calls: sentCalls(message.toolCalls) } : {}),
      };
    default:
      return { role: message.role, content: message.content };
  }
}
