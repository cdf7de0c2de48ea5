import * as z from 'zod';
import { mediaText } from '../../core/values/media.ts';

export const mediaPartSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal('input_audio'), input_audio: z.object({ data: z.string(), format: z.string() }) }),
  z.object({ type: z.literal('file'), file: z.looseObject({ file_data: z.string() }) }),
]);

/** Returns the line in place of the media of a part, such as `[image/png, 34 kB]`; undefined for any other part. */
export function mediaLine(part: unknown): string | undefined {
  const { data: media } = mediaPartSchema.safeParse(part);
  if (media?.type === 'input_audio') {
    const { data, format } = media.input_audio;
    return mediaText({ mimeType: `audio/${format}`, data });
  }
  const url = media?.type === 'file' ? media.file.file_data : media?.image_url.url;
  const [, mimeType, data] = /^data:([^;]+);base64,(.*)$/.exec(url ?? '') ?? [];
  return mimeType === undefined || data === undefined ? undefined : mediaText({ mimeType, data });
}
