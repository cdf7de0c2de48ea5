const replacements: readonly (readonly [RegExp, string])[] = [
  [/(?:: )?`?npx rehearsal check (?:'[^']*'|[^\s'`]+) --audit`?/g, ' "Rehearsal: Audit Domain"'],
  [/(?:: )?`?npx rehearsal draft accept (?:'[^']*'|[^\s'`]+) [^\s`]+`?/g, ' "Rehearsal: Accept Draft"'],
  [/(finished\. )Resume with --out .+$/, '$1See them in Runs, or run the tests again'],
  [/(finished\. )Run the command again$/, '$1Run the tests again'],
  [/Run them again with --.+$/, 'Run them again'],
  [/and run what is left with --out .+$/, 'and run it again'],
  [/and run again with another --out: .+$/, 'and run it again'],
  [/ \(--[a-z-]+\)/g, ''],
];

/**
 * Returns a line of the command line for the editor: a command that the editor has is named as it is there, and an option
 * that follows in brackets what it does is left out.
 */
export function editorWords(line: string): string {
  return replacements.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trim();
}
