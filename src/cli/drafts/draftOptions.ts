import { flag, json, type OptionValues, seconds, text, wholeNumber } from '../options/option.ts';
import { rateLimitWait } from '../options/rolloutOptions.ts';

/** The options of `rehearsal draft`. */
export const draftOptions = {
  domain: text('FOLDER', 'the domain of the recording (default: from the run beside it)'),
  id: text('ID', 'id of the new task or persona, which no other has (default: one that is free)'),
  count: wholeNumber('N', 'variants (default: 5)'),
  model: text('SEAT', 'openai:MODEL[@BASE_URL], the model that writes (default: none, drawn by seed)'),
  words: text('TEXT', 'what the persona is to be like, for the model'),
  seed: text('TEXT', 'source of what is drawn (default: 1)'),
  timeout: seconds('how long the model may take for one answer (default: 120)'),
  rateLimitWait,
  print: flag('write nothing: print the text of the file'),
  all: flag('accept all drafts of the domain'),
  json,
};

export type DraftOptions = OptionValues<typeof draftOptions>;
