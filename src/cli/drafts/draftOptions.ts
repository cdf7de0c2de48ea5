import { flag, json, type OptionValues, seconds, text, wholeNumber } from '../options/option.ts';
import { rateLimitWait } from '../options/rolloutOptions.ts';

/** The options of `rehearsal draft`. */
export const draftOptions = {
  domain: text('FOLDER', 'the domain of the recording (default: from its run)'),
  id: text('ID', 'unused id for the new task or persona (default: generated)'),
  count: wholeNumber('N', 'number of variants (default: 5)'),
  model: text('SEAT', 'openai:MODEL[@BASE_URL], the model that writes (default: none, drawn by seed)'),
  words: text('TEXT', 'description of the persona, for the model'),
  seed: text('TEXT', 'seed of the draws (default: 1)'),
  timeout: seconds('how long the model may take for one answer (default: 120)'),
  rateLimitWait,
  print: flag('print the text of the file and write nothing'),
  all: flag('accept all drafts of the domain'),
  json,
};

export type DraftOptions = OptionValues<typeof draftOptions>;
