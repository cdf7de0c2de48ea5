/** Every text of the project follows docs/contributing/voice.md, as far as a list of phrases can find. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findAllPhrases, findPhrases } from '../../scripts/voice.ts';
import { phraseCounts } from '../../scripts/voiceCounts.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Texts that quote a phrase, by file and phrase. */
const quotations = ['docs/rule-language.md any more'];
const found = findAllPhrases();

test('no text has a phrase to avoid, except in quotations', () => {
  const texts = found.texts.filter(({ file, phrase }) => !quotations.includes(`${file} ${phrase.trim()}`));
  expect(texts.map(({ file, line, phrase, write }) => `${file}:${line} "${phrase.trim()}": write ${write}`)).toEqual(
    [],
  );
});

test('no comment has a phrase to avoid', () => {
  expect(found.comments.map(({ file, line, phrase, write }) => `${file}:${line} "${phrase}": write ${write}`)).toEqual(
    [],
  );
});

test.each([
  ['src/planted.ts', "const text = 'is no run';", 1, 0],
  ['src/planted.ts', 'const text = `${name} is ${what} and goes on`;', 1, 0],
  ['src/planted.ts', "const text = 'there is no run, which is no longer so';", 0, 0],
  ['src/planted.ts', "const text = 'write `is no run`'; const nobody = 1;", 0, 0],
  ['src/planted.ts', '/** Returns what nobody\n * reads. */\n// It stands\n// here.\n', 0, 2],
  ['src/planted.ts', '/** What a thing is. */', 0, 1],
  ['src/planted.tsx', 'const view = <p title="begun anew">A key of\n its own.</p>;', 2, 0],
  ['src/engine/core/seats/agendaSpeech.ts', "const text = 'nobody';", 0, 0],
  ['trainer/planted.py', '"""What is told."""\nfail("It can\'t be "\n     "had")  # mended', 1, 3],
  ['docs/planted.md', 'An agent of your own\nis told. `It is no run`, but for\nthis, and no more, and no rule.', 4, 0],
  ['docs/contributing/voice.md', 'is no run', 0, 0],
  ['src/planted.ts', 'const text = `is no run`;', 1, 0],
  ['src/engine/bridge/planted.py', 'raise ValueError(f"{text} is no call")  # nobody', 1, 1],
  ['src/webview/planted.css', '/* The chart has colours of its own. */', 1, 0],
  ['bench/planted.mjs', "const note = 'packed anew'; // It goes on.", 1, 1],
  ['test/planted.test.ts', "it('says of it that it works', () => {});", 1, 0],
  ['trainer/tests/planted.py', 'assert works, "it is told"', 1, 0],
  ['trainer/planted/README.md', 'It is told.', 1, 0],
  ['trainer/planted.toml', '# Has types of its own: `is no run`', 1, 0],
  ['trainer/planted.jinja', '{#- One line, and no brackets. -#}', 1, 0],
  ['.github/planted.sh', '# It stands\n# here, and no more.', 1, 0],
  ['syntaxes/planted.json', '{ "comment": "Looks like an id and is none." }', 1, 0],
  ['domains/planted/policy.md', 'Whoever asks is told.', 2, 0],
  ['domains/planted/tools.ts', "const description = 'Nobody reads it.'; // It is mended.", 1, 1],
  [
    'domains/planted/rules.yaml',
    '# Whoever\n# asks.\n- rule: a\n  question: Was nobody asked?\n  says:\n    - nobody\n',
    1,
    1,
  ],
  ['templates/planted/domain.yaml', 'description: "It stands\n  here." # It goes on.\n', 1, 1],
  ['templates/planted/a.task.yaml', 'description: All is said.\nuser:\n  opening: Nobody came. # It is told.\n', 1, 1],
  [
    'test/engine/core/rules/planted.yaml',
    '# It is told.\n- name: nobody asks\n  script:\n    - user: Nobody came.\n',
    1,
    1,
  ],
  [
    'test/engine/core/dialogue/planted.json',
    '{"provenance": "It is mended.", "set": [{"text": "Nobody.", "asks": 1}]}',
    1,
    0,
  ],
  ['test/engine/core/simulator/guard.test.ts', "it('refuses', () => 'I was told so'); // It is told.", 0, 1],
])('finds planted phrases in %s: %j', (file, source, texts, comments) => {
  const planted = findPhrases(file, source);
  expect([planted.texts.length, planted.comments.length]).toEqual([texts, comments]);
});

test('counts the phrases of another checkout', () => {
  const folder = temporaryFolder('voice');
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  mkdirSync(join(folder, 'docs'));
  writeFileSync(join(folder, 'docs', 'a.md'), 'A lamp stood here. It does not any more.\n');
  const rows = phraseCounts([folder]).split('\n');
  expect(rows.filter((row) => row.includes('| 1 |'))).toEqual(['| position | 1 | 0 |', '| end of a state | 1 | 0 |']);
  expect(rows).toContain('| total | 2 | 0 |');
});
