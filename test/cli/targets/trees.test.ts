import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keysOf } from '../../../src/cli/targets/keys.ts';
import type { Launch } from '../../../src/cli/targets/target.ts';
import { broughtBy, treeOf } from '../../../src/cli/targets/trees.ts';
import { temporaryFolder } from '../../support/temporary.ts';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('rehearsal-trees');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const launchOf = (config: Launch['config']): Launch => ({
  kind: 'grpo',
  run: '/run',
  config,
  isResumed: false,
  isDetached: false,
  python: undefined,
  disk: undefined,
});

test('the same content is the same tree, and dependencies, caches and .git are left out', () => {
  const files = { 'desk/domain.yaml': 'name: desk\n', 'desk/tasks/a.yaml': '1' };
  const one = treeOf(join(folderWith(files), 'desk'));
  const made = { 'desk/node_modules/x.js': 'x', 'desk/__pycache__/y.pyc': 'y', 'desk/.git/HEAD': 'z' };
  const same = treeOf(join(folderWith({ ...files, ...made }), 'desk'));
  expect([...one.files.keys()]).toEqual(['desk/domain.yaml', 'desk/tasks/a.yaml']);
  expect(same.hash).toBe(one.hash);
  expect(treeOf(join(folderWith({ ...files, 'desk/tasks/a.yaml': '2' }), 'desk')).hash).not.toBe(one.hash);
});

test('a folder that links make very large is not sent', () => {
  const root = folderWith({ 'desk/domain.yaml': '', 'desk/d20/a.txt': '' });
  for (let level = 0; level < 20; level += 1) {
    mkdirSync(join(root, 'desk', `d${level}`));
    for (const name of ['a', 'b']) symlinkSync(join('..', `d${level + 1}`), join(root, 'desk', `d${level}`, name));
  }
  expect(() => treeOf(join(root, 'desk'), undefined, 500)).toThrow('has more than 500 files and folders');
});

test('every path of this machine is brought along, at whatever depth, and named by its place there', () => {
  const root = folderWith({
    'desk/domain.yaml': '',
    'desk/my.agent.yaml': '',
    'lamp/domain.yaml': '',
    'gold/a.jsonl': '',
  });
  const [desk, lamp, gold] = ['desk', 'lamp', 'gold'].map((name) => join(root, name)) as [string, string, string];
  const given = launchOf({
    run: root,
    engine_command: [process.execPath],
    model: 'smollm2',
    domains: [{ domain: desk, weight: 1 }, { domain: lamp }],
    recordings: [gold, join(root, 'none')],
    agent: join(desk, 'my.agent.yaml'),
  });
  const { trees, placedIn } = broughtBy(given);
  const at = (name: string) => `/far/trees/${trees.find((tree) => tree.name === name)?.hash}/${name}`;
  expect(trees.map(({ name }) => name).sort()).toEqual(['desk', 'gold', 'lamp']);
  expect(placedIn('/far', given.config)).toEqual({
    run: root,
    engine_command: [process.execPath],
    model: 'smollm2',
    domains: [{ domain: at('desk'), weight: 1 }, { domain: at('lamp') }],
    recordings: [at('gold'), join(root, 'none')],
    agent: `${at('desk')}/my.agent.yaml`,
  });
});

test('a run below the folder of its domain is brought beside it, and a place of the target is not', () => {
  const desk = folderWith({
    'domain.yaml': '',
    '.rehearsal/training/one/gold/a.jsonl': '',
    '.rehearsal/training/one/checkpoints/final/adapter.bin': '',
    '.rehearsal-is-no-part/b.jsonl': '',
  });
  const gold = join(desk, '.rehearsal', 'training', 'one', 'gold');
  const model = join(desk, '.rehearsal', 'training', 'one', 'checkpoints', 'final');
  const near = join(desk, '.rehearsal-is-no-part');
  const { storage, vllm_python } = { storage: desk, vllm_python: join(desk, 'domain.yaml') };
  const given = launchOf({ domain: desk, recordings: [gold, near], model, storage, vllm_python });
  const { trees, placedIn } = broughtBy(given);
  const at = (name: string) => `/far/trees/${trees.find((tree) => tree.name === name)?.hash}/${name}`;
  expect(trees.map(({ name }) => name).sort()).toEqual([basename(desk), 'final', 'gold'].sort());
  expect(placedIn('/far', given.config)).toEqual({
    domain: at(basename(desk)),
    recordings: [at('gold'), `${at(basename(desk))}/.rehearsal-is-no-part`],
    model: at('final'),
    storage,
    vllm_python,
  });
});

test('the keys of models and servers are named by the configuration and the domain, and nothing else goes there', () => {
  const desk = folderWith({ 'domain.yaml': 'mcpServers:\n  a: { command: b, env: { T: "${env:SERVER_TOKEN}" } }\n' });
  const user = { base_url: 'http://x/v1', model: 'm', api_key_env: 'MODEL_KEY' };
  const given = launchOf({ domain: desk, user });
  const allowed = { REHEARSAL_KEY_ORIGINS: 'MODEL_KEY=http://x' };
  const own = { SERVER_TOKEN: 's', MODEL_KEY: 'm', HF_TOKEN: 'h', OTHER_KEY: 'o', ...allowed };
  expect(keysOf(given, own)).toEqual({ SERVER_TOKEN: 's', MODEL_KEY: 'm', HF_TOKEN: 'h' });
  expect(() => keysOf(given, { ...own, REHEARSAL_KEY_ORIGINS: '' })).toThrow(
    'base_url of the training configuration would send MODEL_KEY to http://x, and it was not allowed for any address',
  );
  expect(() => keysOf(given, { MODEL_KEY: 'm', ...allowed })).toThrow(
    /^SERVER_TOKEN is not set in the environment here/,
  );
});

test.skipIf(process.platform === 'win32')(
  'a link that leaves the folder is refused, and one inside is followed',
  () => {
    const root = folderWith({
      'desk/domain.yaml': 'name: desk\n',
      'desk/texts/a.md': 'a',
      key: 'secret',
      'more/b': 'b',
    });
    const desk = join(root, 'desk');
    symlinkSync('texts/a.md', join(desk, 'policy.md'));
    symlinkSync('.', join(desk, 'again'));
    symlinkSync('missing', join(desk, 'nothing'));
    expect([...treeOf(desk).files.keys()]).toEqual(['desk/domain.yaml', 'desk/policy.md', 'desk/texts/a.md']);
    for (const [target, name] of [
      ['../key', 'file'],
      ['../more', 'folder'],
      ['/', 'everything'],
    ] as const) {
      symlinkSync(target, join(desk, name));
      expect(() => treeOf(desk)).toThrow(
        new RegExp(`desk/${name} is a link to .*, outside of .*desk, so it is not sent`),
      );
      rmSync(join(desk, name));
    }
  },
);

test.skipIf(process.platform === 'win32')("a model in a hub's cache is brought with the blobs that it links to", () => {
  const root = folderWith({ 'models--a/blobs/1f': 'weights', 'models--a/snapshots/main/config.json': '{}' });
  const snapshot = join(root, 'models--a', 'snapshots', 'main');
  symlinkSync('../../blobs/1f', join(snapshot, 'model.safetensors'));
  expect([...treeOf(snapshot).files.keys()]).toEqual(['main/config.json', 'main/model.safetensors']);
});
