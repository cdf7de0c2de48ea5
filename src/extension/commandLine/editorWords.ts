const replacements: readonly (readonly [RegExp, string])[] = [
  [/(finished\. )Resume with: .+$/, '$1See them in Runs, or run the tests again'],
  [/(Run (?:it|them) again) with --.+$/, '$1'],
  [/(?:: )?`?npx rehearsal check (?:'[^']*'|[^\s'`]+) --audit`?/g, ' "Rehearsal: Audit Domain"'],
  [/(?:: )?`?npx rehearsal draft accept (?:'[^']*'|[^\s'`]+) [^\s`]+`?/g, ' "Rehearsal: Accept Draft"'],
  [/(finished\. )Run the command again$/, '$1Run the tests again'],
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
