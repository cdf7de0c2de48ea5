import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { codeServerEntry } from '../../scripts/vscode/codeServer.ts';

/** VS Code's own tokenizer and grammars, where they are installed. */
const vscode = join(dirname(codeServerEntry), '../../lib/vscode');
const isThere = existsSync(join(vscode, 'node_modules/vscode-textmate'));
if (!isThere) console.warn('SKIPPED: grammars: VS Code is not installed (the step `e2e` fetches it)');

type Grammar = { tokenizeLine(line: string, stack: unknown): { tokens: Token[]; ruleStack: unknown } };
type Token = { startIndex: number; endIndex: number; scopes: string[] };
type Textmate = {
  INITIAL: unknown;
  parseRawGrammar: (text: string, file: string) => unknown;
  Registry: new (options: object) => { loadGrammar(scope: string): Promise<Grammar> };
};

const files: Readonly<Record<string, string>> = {
  'text.html.markdown': join(vscode, 'extensions/markdown-basics/syntaxes/markdown.tmLanguage.json'),
  'source.json.lines': join(vscode, 'extensions/json/syntaxes/JSONL.tmLanguage.json'),
  'rehearsal.policy.injection': inRoot('syntaxes/policy.injection.tmLanguage.json'),
  'source.rehearsal.recording': inRoot('syntaxes/recording.tmLanguage.json'),
};

let wasm: Promise<void> | undefined;

async function grammarOf(scope: string): Promise<{ grammar: Grammar; start: unknown }> {
  const load = createRequire(join(vscode, 'package.json'));
  const textmate = load('vscode-textmate') as Textmate;
  const oniguruma = load('vscode-oniguruma') as {
    loadWASM: (bytes: Uint8Array) => Promise<void>;
    OnigScanner: new (patterns: string[]) => object;
    OnigString: new (text: string) => object;
  };
  wasm ??= oniguruma.loadWASM(readFileSync(join(vscode, 'node_modules/vscode-oniguruma/release/onig.wasm')));
  await wasm;
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns: string[]) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text: string) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (name: string) => {
      const file = files[name];
      return file ? textmate.parseRawGrammar(readFileSync(file, 'utf8'), file) : null;
    },
    getInjections: (name: string) => (name === 'text.html.markdown' ? ['rehearsal.policy.injection'] : undefined),
  });
  return { grammar: await registry.loadGrammar(scope), start: textmate.INITIAL };
}

/** The texts of our own scopes, as `scope: text`. */
async function marked(scope: string, text: string): Promise<string[]> {
  const { grammar, start } = await grammarOf(scope);
  let stack = start;
  return text.split('\n').flatMap((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    return tokens.flatMap(({ startIndex, endIndex, scopes }) => {
      const own = scopes.findLast((each) => /rule-id|event\.rehearsal|hash\.rehearsal/.test(each));
      return own && !own.startsWith('punctuation') ? [`${own}: ${line.slice(startIndex, endIndex)}`] : [];
    });
  });
}

describe.skipIf(!isThere)('grammars', () => {
  const id = 'entity.name.tag.rule-id.rehearsal';
  const policies: readonly [string, string, string[]][] = [
    ['a list item', '- Ask first. {#ask-first}', [`${id}: ask-first`]],
    ['a heading', '## Refunds {#refunds}', [`${id}: refunds`]],
    ['a nested item', '- a\n  1. b **c** {#c}', [`${id}: c`]],
    ['a mark that is none', '- a {#a b}', ['invalid.illegal.rule-id.rehearsal: {#a b}']],
    ['code', '- `{#a}`\n\n```\n{#b}\n```', []],
  ];
  it.each(policies)('policy: %s', async (_, text, expected) => {
    expect(await marked('text.html.markdown', text)).toEqual(expected);
  });

  it('recording: kinds of events and hashes', async () => {
    const line = '{"n":3,"event":{"type":"toolCalled","note":"\\"type\\":\\"x\\""},"chain":"0123456789abcdef0"}';
    expect(await marked('source.rehearsal.recording', line)).toEqual([
      'entity.name.type.event.rehearsal: "toolCalled"',
      'comment.line.hash.rehearsal: "0123456789abcdef0"',
    ]);
    expect(await marked('source.rehearsal.recording', '{"event":{"type":"rewarded"}}')).toEqual([
      'keyword.control.event.rehearsal: "rewarded"',
    ]);
  });
});
