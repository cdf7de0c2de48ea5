import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { oldestNode, runtimeObstacle } from '../../../src/cli/doctor/runtime.ts';
import { commandIds } from '../../../src/extension/workspace/contributions.ts';
import { walkthroughSteps, walkthroughTitle } from '../../../src/extension/workspace/walkthrough.ts';

vi.mock('vscode', () => ({}));

type Manifest = {
  readonly engines: { readonly node: string };
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string; readonly args?: object }[];
    readonly viewsWelcome: readonly { readonly view: string; readonly contents: string; readonly when?: string }[];
    readonly breakpoints: readonly { readonly language: string; readonly when?: string }[];
    readonly walkthroughs: readonly {
      readonly title: string;
      readonly steps: readonly {
        readonly id: string;
        readonly description: string;
        readonly media: { readonly markdown: string };
        readonly completionEvents: readonly string[];
      }[];
    }[];
  };
};
const manifest = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as Manifest;

it('package.json contributes the commands that the extension handles, and no other', () => {
  expect(manifest.contributes.commands.map(({ command }) => command)).toEqual([...commandIds]);
});

const smallWords = /^(?:a|an|and|as|by|for|from|in|of|on|or|the|to|with|without|k)$/;

it.each(manifest.contributes.commands)('the words of the title "$title" begin with capitals', ({ title }) => {
  const [first = '', ...words] = title.replace('…', '').split(' ');
  const small = words.filter((word) => !smallWords.test(word));
  expect([first, ...small].filter((word) => /^[a-z]/.test(word))).toEqual([]);
});

it('breakpoints can be set from the first moment: they wait for nothing that the extension has yet to find out', () => {
  expect(manifest.contributes.breakpoints).toEqual([
    { language: 'markdown' },
    { language: 'yaml' },
    { language: 'typescript' },
  ]);
});

it.each(manifest.contributes.walkthroughs.flatMap(({ steps }) => steps))(
  'the walkthrough step "$id" has buttons that work, and is ticked by what is done and not by a button',
  ({ id: step, description, media, completionEvents }) => {
    const page = readFileSync(inRoot(media.markdown), 'utf8');
    const named = [...`${description}\n${page}`.matchAll(/\(command:([\w.]+)/g)].map(([, id = '']) => id);
    const own = named.filter((id) => !id.startsWith('workbench.'));
    expect(own.filter((id) => !commandIds.some((known) => known === id))).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
    expect(walkthroughSteps).toContain(step);
    expect(completionEvents).toEqual([`onContext:rehearsal.done.${step}`]);
  },
);

it('the tab of the walkthrough is known by its title', () => {
  expect(manifest.contributes.walkthroughs.map(({ title }) => title)).toEqual([walkthroughTitle]);
});

it.each([
  ['sample', /Rollouts start only in a trusted workspace[\s\S]*\(command:workbench\.trust\.manage\)/],
  ['debug', /lamp-variant of order-desk/],
  ['model', /base URL[\s\S]*\[Test Connection\][\s\S]*\[Set Model Key…\]/],
])('the walkthrough step "%s" says what has to come first', (step, words) => {
  const [walkthrough] = manifest.contributes.walkthroughs;
  expect(walkthrough?.steps.find(({ id }) => id === step)?.description).toMatch(words);
});

it('has backticks only where VS Code shows code: in markdownDescription', () => {
  const found: string[] = [];
  JSON.stringify(manifest.contributes, (name, value: unknown) => {
    if (typeof value === 'string' && value.includes('`') && name !== 'markdownDescription') found.push(value);
    return value;
  });
  expect(found).toEqual([]);
});

it('menus and the palette show F5 for debugging: VS Code shows the last key of a command that fits', () => {
  const { keybindings } = manifest.contributes;
  const keysOf = (id: string) => keybindings.flatMap(({ command, key }) => (command === id ? [key] : []));
  const keys = keysOf('rehearsal.recording.debug');
  expect(keys).toEqual(keys.toSorted());
  expect(keys.at(-1)).toBe('f5');
  expect(keysOf('rehearsal.rollout.stepBack')).toEqual(['alt+f11']);
});

it('the text of an empty view waits until the view was read', () => {
  const none = manifest.contributes.viewsWelcome.filter(({ contents }) =>
    /^No (domain|runs|training runs) /.test(contents),
  );
  expect(none.map(({ view, when }) => [view, when?.split(' && ').at(-1)])).toEqual(
    ['domains', 'runs', 'training'].map((view) => [`rehearsal.${view}`, `rehearsal.empty.${view}`]),
  );
});

it('package.json and the command line name the same oldest Node', () => {
  expect(manifest.engines.node).toBe(`>=${oldestNode}`);
});

it.each([
  ['18.20.0', false],
  ['20.20.2', false],
  ['22.14.9', false],
  ['22.15.0', true],
  ['24.1.0', true],
])('Node %s', (version, isEnough) => {
  const obstacle = runtimeObstacle(version);
  if (isEnough) expect(obstacle).toBeNull();
  else
    expect(obstacle).toBe(
      `rehearsal needs Node 22.15 or newer, and this is Node ${version}. Install a newer one (https://nodejs.org)`,
    );
});
