import * as z from 'zod';

/** `phrases.yaml`: ways to say one thing, by its name. Rules find them with `says(text, phrases.name)`. */
export const phrasesSchema = z.record(
  z.string(),
  z.array(z.string().min(1)).min(1).describe('Ways to say one thing; rules find them with says(text, phrases.NAME).'),
);
export type Phrases = Readonly<Record<string, readonly string[]>>;
