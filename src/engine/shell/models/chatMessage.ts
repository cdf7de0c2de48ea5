import * as z from 'zod';

/** A part of a message, in OpenAI's format. */
export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'input_audio'; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } };

/** A call in a message of a model. */
export type ChatCall = {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
};

/** A message as the engine writes it. */
export type ChatMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ChatPart[] }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly ChatCall[];
      readonly rehearsal_id?: string;
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

const fields = z.looseObject({});

/** A message as it is sent: one of the engine with fields that its endpoint needs back, or one of a custom agent. */
export const sentMessageSchema = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(fields).readonly()]).nullish(),
  tool_calls: z.array(fields).readonly().nullish(),
});
export type SentMessage = Readonly<z.infer<typeof sentMessageSchema>>;

/** The body of a request, except the model's name. */
export type ChatBody = { readonly messages: readonly SentMessage[]; readonly [field: string]: unknown };

/** The whole body that a model is sent; its text is this value's JSON. */
export type ChatRequest = ChatBody & { readonly model: string };
