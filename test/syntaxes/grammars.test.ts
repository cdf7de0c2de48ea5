import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import oniguruma from 'vscode-oniguruma';
import textmate from 'vscode-textmate';
import { inRoot } from '../../scripts/repository.ts';

const { resolve } = createRequire(import.meta.url);
const own = inRoot('syntaxes');
const base = join(import.meta.dirname, 'base');
const golden = join(import.meta.dirname, 'golden');

/** Every grammar that the extension ships, and small replacements of the editor's grammars that they include. */
const grammars = new Map(
  [own, base].flatMap((folder) =>
    readdirSync(folder).map((name) => {
      const grammar = textmate.parseRawGrammar(readFileSync(join(folder, name), 'utf8'), name);
      return [grammar.scopeName, grammar] as const;
    }),
  ),
);

const manifest = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as {
  readonly contributes: {
    readonly grammars: readonly {
      readonly scopeName: string;
      readonly path: string;
      readonly injectTo?: readonly string[];
    }[];
  };
};

const registry = new textmate.Registry({
  onigLib: oniguruma.loadWASM(readFileSync(resolve('vscode-oniguruma/release/onig.wasm'))).then(() => ({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  })),
  loadGrammar: async (scope) => grammars.get(scope) ?? null,
  getInjections: (scope) =>
    manifest.contributes.grammars.flatMap(({ scopeName, injectTo }) => (injectTo?.includes(scope) ? [scopeName] : [])),
});

/** Returns each line with the scopes of its words below it; words without a scope are left out. */
async function scoped(scope: string, text: string): Promise<string> {
  const grammar = (await registry.loadGrammar(scope)) ?? expect.fail(`there is no grammar ${scope}`);
  let stack = textmate.INITIAL;
  const lines = text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
      stack = ruleStack;
      const told = tokens.flatMap(({ startIndex, endIndex, scopes }) => {
        const names = scopes.slice(1);
        const words = line.slice(startIndex, endIndex);
        return names.length === 0 || words.trim() === '' ? [] : [`    ${JSON.stringify(words)} ${names.join(' ')}`];
      });
      return [line, ...told];
    });
  return `${lines.join('\n')}\n`;
}

const texts: Readonly<Record<string, readonly [scope: string, text: string]>> = {
  policy: [
    'text.html.markdown',
    `# Desk {#desk}

- Look the order up first. {#look-up-first}
- This is not an id: {#look up} and neither is {#}.
- In code it is text: \`{#look-up}\`.
<!-- {#hidden} -->
\`\`\`
{#fenced}
\`\`\`
`,
  ],
  recording: [
    'source.rehearsal.recording',
    `{"type":"rolloutStarted","seed":"1"}
{"type":"agentReplied","content":"Hello","chain":"0123456789abcdef0123"}
{"type":"toolFailed","message":"\\"type\\": no"}
{"type":"rewarded","reward":1,"state":"fedcba98765432100123"}
`,
  ],
};

it.each(Object.entries(texts))('colours of a %s', async (name, [scope, text]) => {
  const file = join(golden, `${name}.txt`);
  const found = await scoped(scope, text);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, found);
  expect(existsSync(file), `${file} is missing: UPDATE_GOLDEN=1 writes it`).toBe(true);
  expect(found).toBe(readFileSync(file, 'utf8'));
});

it('every grammar of package.json has its file, and every file is a grammar of package.json', () => {
  const contributed = manifest.contributes.grammars.map(({ scopeName, path }) => `${scopeName} ${path}`);
  const shipped = readdirSync(own).map((name) => {
    const { scopeName } = JSON.parse(readFileSync(join(own, name), 'utf8')) as { readonly scopeName: string };
    return `${scopeName} ./syntaxes/${name}`;
  });
  expect(contributed.toSorted()).toEqual(shipped.toSorted());
});
