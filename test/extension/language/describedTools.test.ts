import { beforeEach, expect, it, vi } from 'vitest';
import { type CommandEnd, runCommand } from '../../../src/extension/commandLine/commandLine.ts';
import type { Context } from '../../../src/extension/commandLine/context.ts';
import { describeTools } from '../../../src/extension/language/describedTools.ts';
import { deskTools } from '../../engine/shell/load/domainFolder.ts';

vi.mock('vscode', () => ({
  CancellationTokenSource: class {
    dispose() {}
  },
  workspace: { isTrusted: true },
}));
vi.mock('../../../src/extension/commandLine/commandLine.ts', () => ({ runCommand: vi.fn() }));

const good = {
  code: 0,
  answer: { tools: deskTools },
  message: undefined,
  isStopped: false,
  isCancelled: false,
} satisfies CommandEnd;
const bad = { ...good, code: 2, answer: {} } satisfies CommandEnd;
const ran = vi.mocked(runCommand);
beforeEach(() => {
  ran.mockReset();
});

const describe = (folder: string, stamp: string) => describeTools({} as Context, folder, stamp);

it('code that could not be loaded is asked again only in another state, or once it was in one', async () => {
  ran.mockResolvedValueOnce(bad).mockResolvedValueOnce(good).mockResolvedValueOnce(good);
  expect(await describe('/desk', 'broken')).toBeUndefined();
  expect(await describe('/desk', 'broken')).toBeUndefined();
  expect(ran).toHaveBeenCalledTimes(1);
  expect(await describe('/desk', 'whole')).toEqual(deskTools);
  expect(await describe('/desk', 'broken')).toEqual(deskTools);
  expect(ran).toHaveBeenCalledTimes(3);
});

it('the same code in two folders may be loaded in one and not in the other', async () => {
  ran.mockResolvedValueOnce(bad).mockResolvedValueOnce(good);
  expect(await describe('/without-packages', 'same')).toBeUndefined();
  expect(await describe('/with-packages', 'same')).toEqual(deskTools);
});

it('who asks while a state is described waits for that; another state is described after it', async () => {
  const first = Promise.withResolvers<CommandEnd>();
  ran.mockReturnValueOnce(first.promise).mockResolvedValueOnce({ ...good, answer: { tools: [] } });
  const [one, same, other] = [describe('/busy', 'a'), describe('/busy', 'a'), describe('/busy', 'b')];
  expect(ran).toHaveBeenCalledTimes(1);
  first.resolve(good);
  expect([await one, await same, await other]).toEqual([deskTools, deskTools, []]);
  expect(ran).toHaveBeenCalledTimes(2);
});
