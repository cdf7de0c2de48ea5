/** `node scripts/voiceCounts.ts FOLDER...` counts the phrases to avoid in checkouts of this repository. */
import { findAllPhrases, phraseNames } from './voice.ts';

/** Returns a table of the phrases, with their number in strings and documentation, and in comments, of each folder. */
export function phraseCounts(folders: readonly string[]): string {
  const found = folders.map((folder) => findAllPhrases(folder)).flatMap(({ texts, comments }) => [texts, comments]);
  const heads = folders.flatMap((folder) => [`${folder}: texts`, 'comments']);
  const rows = phraseNames.map((name) => [
    name,
    ...found.map((all) => all.filter((each) => each.name === name).length),
  ]);
  return [
    ['kind', ...heads],
    ['---', ...heads.map(() => '---:')],
    ...rows,
    ['total', ...found.map((all) => all.length)],
  ]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

if (import.meta.main) process.stdout.write(phraseCounts(process.argv.slice(2)));
