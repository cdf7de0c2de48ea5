import * as z from 'zod';

/** A picture, a sound or another file in the result of a tool. */
export const mediaSchema = z.object({
  mimeType: z.string().describe('Such as image/png.'),
  data: z.string().describe('Its bytes, in base64.'),
  uri: z.string().optional().describe('The address that an MCP server gives a file.'),
  line: z.int().optional().describe('The line of the result that is in its place, from 0.'),
});
export type Media = z.infer<typeof mediaSchema>;

/** Kinds of media that models can be sent. */
export const modalities = ['image', 'audio'] as const;
export type Modality = (typeof modalities)[number];

const modalityByType: Readonly<Record<string, Modality>> = {
  'image/png': 'image',
  'image/jpeg': 'image',
  'image/gif': 'image',
  'image/webp': 'image',
  'audio/wav': 'audio',
  'audio/mpeg': 'audio',
};

/** Returns what a model must take to be sent this; undefined for a type that is sent to no model. */
export function modalityOf({ mimeType }: Pick<Media, 'mimeType'>): Modality | undefined {
  return Object.hasOwn(modalityByType, mimeType) ? modalityByType[mimeType] : undefined;
}

/** Returns the line that a result has in place of media, such as `[image/png, 34 kB]`. */
export function mediaText({ mimeType, data }: Media): string {
  const bytes = Math.floor((data.length * 3) / 4);
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return `[${mimeType}, ${size}]`;
}

/**
 * Returns the texts and the media of a result in the order in which its tool gave them. Recordings of earlier versions lack
 * the lines of media.
 */
export function partsOf(content: string, media: readonly Media[] = []): readonly (string | Media)[] {
  const left = [...media];
  const parts: (string | Media)[] = [];
  let lines: string[] = [];
  const endText = () => {
    if (lines.length > 0) parts.push(lines.join('\n'));
    lines = [];
  };
  for (const [at, line] of content.split('\n').entries()) {
    const [next] = left;
    if (next && (next.line === undefined ? line === mediaText(next) : at === next.line)) {
      endText();
      parts.push(next);
      left.shift();
    } else lines.push(line);
  }
  endText();
  return [...parts, ...left];
}
