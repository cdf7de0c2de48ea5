import * as z from 'zod';
import type { JsonObject } from './json.ts';

const annotationsSchema = z.record(z.string(), z.json()).optional();

/** A picture, a sound or another file in the result of a tool. */
export const mediaSchema = z.object({
  mimeType: z.string().describe('Such as image/png.'),
  data: z.string().describe('Its bytes, in base64; with `problem`, the text that the server gave instead.'),
  problem: z.string().optional().describe('Why `data` is not base64. Models and views get the line alone.'),
  uri: z.string().optional().describe('The address that an MCP server gives a file.'),
  line: z.int().optional().describe('The line of the result that is in its place, from 0.'),
  annotations: annotationsSchema.describe('How an MCP server describes it.'),
});
export type Media = z.infer<typeof mediaSchema>;

/** The start of a text in a result. */
export const textPartSchema = z.object({
  line: z.int().describe('The first line of the text, from 0.'),
  annotations: annotationsSchema.describe('How an MCP server describes it.'),
});
export type TextPart = z.infer<typeof textPartSchema>;

/** The parts of a tool's result besides its text. */
export type Attachments = {
  /** Pictures, sounds and files; the text has a line in place of each. */
  readonly media?: readonly Media[] | undefined;
  /** Lines of the text, from 0, that are the JSON of a file with a text or of a link to a file, as MCP has it. */
  readonly resourceLines?: readonly number[] | undefined;
  /** The starts of the result's texts, if there are several or one has annotations. */
  readonly textParts?: readonly TextPart[] | undefined;
  /** The structured content of the result, as JSON with all digits of its numbers. */
  readonly structured?: string | undefined;
};

/** Returns the attachments of a result, an event or a message. */
export function attachmentsOf({ media, resourceLines, textParts, structured }: Attachments): Attachments {
  return {
    ...(media ? { media } : {}),
    ...(resourceLines ? { resourceLines } : {}),
    ...(textParts ? { textParts } : {}),
    ...(structured === undefined ? {} : { structured }),
  };
}

/** Kinds of media that models can be sent. */
export const modalities = ['image', 'audio', 'pdf', 'file'] as const;
export type Modality = (typeof modalities)[number];

const modalityByType: Readonly<Record<string, Modality>> = {
  'image/png': 'image',
  'image/jpeg': 'image',
  'image/gif': 'image',
  'image/webp': 'image',
  'audio/wav': 'audio',
  'audio/mpeg': 'audio',
  'application/pdf': 'pdf',
};

/** Returns what a model must take to be sent this. */
export function modalityOf({ mimeType }: Pick<Media, 'mimeType'>): Modality {
  return (Object.hasOwn(modalityByType, mimeType) ? modalityByType[mimeType] : undefined) ?? 'file';
}

/** Returns the name of a file: the end of its address, or one that tells its type. */
export function fileName({ mimeType, uri }: Media): string {
  const path = uri === undefined ? undefined : /^[^?#]*/.exec(uri)?.[0];
  const [, name] = /[/:]([^/:]+)$/.exec(path ?? '') ?? [];
  const [, type = ''] = mimeType.split('/');
  return name === undefined || !name.includes('.') ? `file.${type.split(/[.+-]/).at(-1) || 'bin'}` : name;
}

/**
 * Returns the line that a result has in place of media, such as `[image/png, 34 kB]`.
 * @param note what else the line says
 */
export function mediaText({ mimeType, data, problem }: Media, note?: string): string {
  const size = problem === undefined ? sizeOf(Math.floor((data.length * 3) / 4)) : `${data.length} characters`;
  return `[${[mimeType, size, problem, note].filter((each) => each !== undefined).join(', ')}]`;
}

const sizeOf = (bytes: number) => (bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** A line of a result that is the JSON of a file with a text or of a link to a file. */
export type ResourceLine = { readonly json: string };

/** A text of a result, with what an MCP server says about it. */
export type AnnotatedText = { readonly text: string; readonly annotations: JsonObject };

/** A part of a result in the order in which its tool gave it. */
export type ResultPart = string | AnnotatedText | Media | ResourceLine;

/**
 * Returns the parts of a result in the order in which its tool gave them. Recordings of earlier versions lack the lines of
 * media, and have the other files as texts.
 */
export function partsOf(
  content: string,
  { media = [], resourceLines = [], textParts = [] }: Attachments = {},
): readonly ResultPart[] {
  const left = [...media];
  const parts: ResultPart[] = [];
  let lines: string[] = [];
  let annotations: JsonObject | undefined;
  const endText = () => {
    const text = lines.join('\n');
    if (lines.length > 0) parts.push(annotations ? { text, annotations } : text);
    lines = [];
    annotations = undefined;
  };
  for (const [at, line] of content.split('\n').entries()) {
    const [next] = left;
    if (next && (next.line === undefined ? line === mediaText(next) : at === next.line)) {
      endText();
      parts.push(next);
      left.shift();
    } else if (resourceLines.includes(at)) {
      endText();
      parts.push({ json: line });
    } else {
      const start = textParts.find((each) => each.line === at);
      if (start) endText();
      annotations = start ? (start.annotations as JsonObject | undefined) : annotations;
      lines.push(line);
    }
  }
  endText();
  return [...parts, ...left];
}
