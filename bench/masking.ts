import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type RecogniserOptions, recogniseNames } from '../src/authoring/conversations/recogniser.ts';
import { countsOf, replacedIn } from './maskingCounts.ts';
import { type Labelled, labelledSentences } from './maskingSentences.ts';

/*
 * Measures how many words of names in labelled sentences are found, and how many found words are names.
 *
 *   node bench/masking.ts --write FILE     writes the sentences as JSON lines, for another recogniser
 *   node bench/masking.ts                  measures the rules of the import
 *   node bench/masking.ts --found FILE     measures a recogniser: a JSON list of the words that it found, a sentence a line
 *   node bench/masking.ts --rampart PYTHON measures the import with Rampart
 *   node bench/masking.ts --presidio PYTHON LANGUAGE...
 *                                          measures the import with Presidio; a language that is not named has the model
 *                                          of the first one
 */

const share = (part: number, whole: number) => (whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`);

type Name = RecogniserOptions['name'];

/** Returns the words that the import replaces in each sentence with a recogniser. */
async function withRecogniser(
  name: Name,
  python: string,
  languages: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const modelOf = ({ language }: Labelled) => (languages.includes(language) ? language : languages[0]);
  const found = new Map<Labelled, readonly string[]>();
  for (const language of languages) {
    const own = sentences.filter((each) => modelOf(each) === language);
    const texts = own.map(({ text }) => text);
    const { spansIn } = await recogniseNames(texts, { python, name, language, signal: new AbortController().signal });
    for (const each of own) found.set(each, replacedIn(each.text, spansIn));
  }
  return sentences.map((each) => found.get(each) ?? []);
}

const [option, file = '', ...named] = process.argv.slice(2);
const sentences = labelledSentences();
if (option === '--write') writeFileSync(file, sentences.map((each) => `${JSON.stringify(each)}\n`).join(''));
else {
  const lines = option === '--found' && existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : null;
  const found =
    option === '--presidio' || option === '--rampart'
      ? await withRecogniser(option.slice(2) as Name, file, option === '--rampart' ? ['en'] : named)
      : (lines?.map((line) => JSON.parse(line) as readonly string[]) ?? sentences.map(({ text }) => replacedIn(text)));
  const languages = [...new Set(sentences.map(({ language }) => language))];
  for (const language of [...languages, 'all']) {
    const chosen = sentences.flatMap((each, at) => (language === 'all' || each.language === language ? [at] : []));
    const counts = countsOf(
      chosen.map((at) => sentences[at] as Labelled),
      chosen.map((at) => found[at] ?? []),
    );
    const { right } = counts;
    process.stdout.write(
      `${language.padEnd(4)} ${chosen.length} sentences, recall ${share(right, counts.labelled)}, precision ${share(right, counts.found)}\n`,
    );
  }
}
