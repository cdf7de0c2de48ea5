import * as z from 'zod';
import { dialects } from '../../engine/core/domain/dialect.ts';
import { type ExportFormat, exportForms } from '../../synthesis/exportForms.ts';
import { budgetOptions } from '../options/budget.ts';
import { settingOptions } from '../options/modelSettings.ts';
import { json, number, type OptionValues, oneOf, option, text, wholeNumber } from '../options/option.ts';
import { basis, rateLimitWait, timeout, turnCap } from '../options/rolloutOptions.ts';

const { judgePrice: _, ...budget } = budgetOptions;

/** The options of `rehearsal synth`. */
export const synthOptions = {
  teacher: option(
    'SEAT',
    'openai:MODEL[@BASE_URL] or agent:FILE: who plays the agent (default: the gold seat for successes, and the gold seat with one mistake for near-misses)',
    z.string().regex(/^(?:gold$|openai:|agent:|editor:)/, 'gold, openai:MODEL[@BASE_URL] or agent:FILE'),
  ),
  user: text('SEAT', "agenda or openai:MODEL[@BASE_URL] (default: the domain's for training)"),
  count: wholeNumber('N', 'rollouts to choose (default: 2000)'),
  nearMisses: number(
    'X',
    'share of near-misses, from 0 to 1 (default: 0.25)',
    'a share from 0 to 1',
    (given) => given >= 0 && given <= 1,
  ),
  under: text(
    'A,B*',
    'also run each task under these personas, applied on top of the persona of the task; * matches any characters',
  ),
  basis: basis('train'),
  seed: text('TEXT', 'source of every random stream, and of the choice among equal rollouts (default: 1)'),
  turnCap,
  concurrency: wholeNumber('N', 'rollouts or grades to run at the same time (default: 16)'),
  ...settingOptions,
  timeout,
  rateLimitWait,
  ...budget,
  out: text(
    'PATH',
    'synthesis: a folder that is new, empty, or that of a synthesis to resume (default: .rehearsal/synth/<id> here); export: the file to write',
  ),
  format: oneOf(
    'NAME',
    'export: rehearsal, openai (fine-tuning of OpenAI), trl (datasets 4.8 or newer) or trl-text (any version of datasets) (default: rehearsal)',
    Object.keys(exportForms) as ExportFormat[],
  ),
  grader: text('SEAT', 'grade: openai:MODEL[@BASE_URL]'),
  model: text('NAME', 'preview: the model whose tokenizer is used (default: smollm2)'),
  dialect: oneOf(
    'NAME',
    "preview: auto, template or compact (default: a checkpoint's own, else the domain's)",
    dialects,
  ),
  python: text(
    'PATH',
    'preview: an existing Python to use as it is, without downloads (see `npx rehearsal help train`)',
  ),
  json,
};

export type SynthOptions = OptionValues<typeof synthOptions>;
