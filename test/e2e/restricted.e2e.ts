import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { type Answer, fileAt, Probe, probeExtension } from './support/probe.ts';
import { addSpyServer, untrusted } from './support/spyServer.ts';
import { until } from './support/until.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/**
 * Runs every command that package.json contributes, by its id, in an untrusted workspace that has everything that a
 * command could ask for: runs, a synthesis, a training run. A command that would run a domain's code starts no process
 * and reports it once; every other one works. The only process that any of them starts is the command line, to read
 * records.
 */
const domain = copyDomain('order-desk');
const cli = inRoot('dist', 'rehearsal.mjs');
const runs = ['20260101-000000-before', '20260102-000000-after'].map((name) =>
  join(domain.folder, '.rehearsal', 'runs', name),
);
const [before = '', after = ''] = runs;
const synthesis = join(domain.folder, '.rehearsal', 'synth', '20260101-000000-synth');
const training = join(domain.folder, '.rehearsal', 'training', '20260101-000000-grpo');
const task = join(domain.folder, 'tasks', 'lamp-variant.task.yaml');
const persona = join(domain.folder, 'personas', 'hurried.persona.yaml');
const chats = join(synthesis, 'chat.jsonl');
let mark: string;
const probe = new Probe();
let workbench: Workbench;

const recordingIn = (run: string) =>
  join(run, readdirSync(run).find((name) => name.endsWith('.traj.jsonl')) ?? 'no recording');

beforeAll(async () => {
  const rehearsal = (...args: string[]) => execFileSync(process.execPath, [cli, ...args], { stdio: 'pipe' });
  for (const run of runs) rehearsal('eval', domain.folder, '--agent', 'gold', '--tasks', 'lamp-*', '--out', run);
  rehearsal('synth', domain.folder, '--count', '2', '--near-misses', '0', '--out', synthesis);
  mkdirSync(training, { recursive: true });
  const config = { kind: 'grpo', model: 'tiny', domain: domain.folder, steps: 3 };
  writeFileSync(join(training, 'config.json'), JSON.stringify(config));
  writeFileSync(join(training, 'events.jsonl'), `${JSON.stringify({ time: 1, type: 'finished' })}\n`);
  // From here on the domain would write a file if any of its code ran: its MCP server is a command that does so.
  mark = addSpyServer(domain.folder);
  workbench = await Workbench.open(domain.folder, {
    ...untrusted,
    env: probe.env,
    beside: probeExtension,
  });
  expect(await probe.isTrusted()).toBe(false);
  await workbench.waitForText('.part.statusbar', 'Restricted Mode');
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
  probe.remove();
});

/** The arguments and answers with which a command is tried, and its expected effects. */
type Tried = {
  readonly args?: () => readonly unknown[];
  /** The beginning of the message that refuses the command. */
  readonly refused?: string;
  /** The commands of the command line that it starts, each with nothing else below it. */
  readonly starts?: readonly string[];
  /** Answers the command's question. A command that asks and is not answered is left with Escape. */
  readonly answer?: () => Promise<void>;
  readonly sees?: (answer: Answer) => Promise<void> | void;
};

const refused = (what: string, args?: () => readonly unknown[]): Tried => ({
  refused: what,
  ...(args ? { args } : {}),
});
const gives = (value: unknown, args?: () => readonly unknown[]): Tried => ({
  ...(args ? { args } : {}),
  sees: (answer) => expect(answer.value).toEqual(value),
});
const says = (text: string | RegExp, args?: () => readonly unknown[]): Tried => ({
  ...(args ? { args } : {}),
  sees: async () => void (await workbench.notification(text)),
});
const asks: Tried = { answer: () => escaped() };

const atTask = () => [fileAt(task)];
const atRecording = () => [recordingIn(before)];
const checked = () => [
  {
    type: 'checked',
    recording: recordingIn(synthesis),
    checked: { row: { recording: rowOf(recordingIn(synthesis)) } },
  },
];
const rowOf = (recording: string) => recording.slice(synthesis.length + 1);
const showsPage = (text: string | RegExp) => async () => {
  await workbench.webviewFrame().getByText(text).first().waitFor();
};

const tried: Readonly<Record<string, Tried>> = {
  'rehearsal.task.debug': refused('Rollouts', atTask),
  'rehearsal.task.run': refused('Rollouts', atTask),
  'rehearsal.task.play': refused('Rollouts', atTask),
  'rehearsal.task.preview': refused('Rollouts', atTask),
  'rehearsal.task.checkpoint': refused('Rollouts', atTask),
  'rehearsal.domain.check': {
    // It reads the files only.
    starts: ['check'],
    args: () => [{ type: 'domain', folder: domain.folder }],
    sees: async ({ value }) => {
      expect(value).toBe(0);
      await workbench.notification(/order-desk: \d+ tasks, no findings\. Only its files were read/);
    },
  },
  'rehearsal.domain.audit': refused('Audits', () => [{ type: 'domain', folder: domain.folder }]),
  'rehearsal.domain.approve': refused('The programs of a domain', () => [{ type: 'domain', folder: domain.folder }]),
  'rehearsal.recording.debug': refused('Debug sessions', atRecording),
  'rehearsal.recording.open': {
    args: atRecording,
    sees: async ({ value }) => {
      expect(value).toBe(true);
      await workbench.webviewFrame().locator('article').first().waitFor();
    },
  },
  'rehearsal.recording.select': { args: atRecording, sees: ({ value }) => expect(value).toBe(recordingIn(before)) },
  'rehearsal.recordings.compare': {
    args: () => [recordingIn(before), recordingIn(after)],
    starts: ['compare'],
    sees: async ({ value }) => {
      expect(value).toEqual([recordingIn(before), recordingIn(after)]);
      await workbench.webviewFrame().locator('table').first().waitFor();
    },
  },
  'rehearsal.runs.compare': {
    args: () => [before, runs],
    starts: ['compare'],
    sees: async ({ value }) => {
      expect(value).toEqual(runs);
      await workbench.webviewFrame().locator('vscode-data-grid-row').first().waitFor();
    },
  },
  'rehearsal.runs.refresh': gives(null),
  'rehearsal.run.report': {
    args: () => [before],
    starts: ['report'],
    sees: ({ value }) => expect(readFileSync(String(value), 'utf8')).toContain('lamp-variant'),
  },
  'rehearsal.run.reveal': gives(true, () => [before]),
  'rehearsal.run.delete': {
    args: () => [before],
    answer: () => escaped(),
    sees: ({ value }) => expect([value, existsSync(before)]).toEqual([false, true]),
  },
  'rehearsal.running.show': says('Rehearsal is not running anything.'),
  'rehearsal.request.show': refused('Debug sessions'),
  'rehearsal.rollout.stepBack': refused('Debug sessions'),
  'rehearsal.rollout.fork': refused('Debug sessions'),
  'rehearsal.rollout.swap': refused('Debug sessions'),
  'rehearsal.rollout.resample': refused('Debug sessions'),
  'rehearsal.rollout.replay': refused('Debug sessions'),
  'rehearsal.rollout.takeUser': refused('Debug sessions'),
  'rehearsal.rollout.takeAgent': refused('Debug sessions'),
  'rehearsal.value.edit': refused('Debug sessions'),
  'rehearsal.forks.compare': says('There is nothing to compare with yet'),
  'rehearsal.tests.group': gives(expect.stringMatching(/split|persona/)),
  'rehearsal.training.sft': refused('Training runs', () => [{ domain: domain.folder, model: 'tiny', steps: 1 }]),
  'rehearsal.training.configured': refused('Training runs'),
  'rehearsal.training.grpo': refused('Training runs', () => [{ domain: domain.folder, model: 'tiny', steps: 1 }]),
  'rehearsal.training.dashboard': { args: () => [training], sees: showsPage('finished') },
  'rehearsal.training.stop': {
    args: () => [training],
    sees: ({ value }) => expect([value, existsSync(join(training, 'stop'))]).toEqual([true, true]),
  },
  'rehearsal.training.resume': refused('Training runs', () => [training]),
  'rehearsal.training.fetch': refused('Training runs', () => [training]),
  'rehearsal.training.evaluate': refused('Evaluations', () => [{ domain: domain.folder, model: 'tiny', trials: 1 }]),
  'rehearsal.training.compare': says('There are fewer than two evaluations in this workspace.'),
  'rehearsal.training.serve': refused('Served models', () => [training]),
  'rehearsal.training.export': refused('Exports', () => [training]),
  'rehearsal.training.experiment': refused('Experiments'),
  'rehearsal.synth.start': refused('Rollouts'),
  'rehearsal.synth.spotCheck': gives(2, () => [synthesis]),
  'rehearsal.synth.accept': gives(true, checked),
  'rehearsal.synth.reject': gives(true, checked),
  'rehearsal.synth.edit': refused('Debug sessions', checked),
  'rehearsal.synth.grade': refused('Graders', () => [synthesis]),
  'rehearsal.synth.export': {
    args: () => [synthesis],
    starts: ['synth export'],
    answer: () => workbench.answerPath(chats),
    sees: ({ value }) => expect([value, existsSync(chats)]).toEqual([chats, true]),
  },
  'rehearsal.synth.preview': refused('The trainer', atRecording),
  'rehearsal.domain.new': {
    starts: ['new'],
    answer: async () => {
      await workbench.pick('empty');
      await workbench.answer('new-desk');
    },
    sees: ({ value }) => expect(readdirSync(String(value))).toContain('domain.yaml'),
  },
  'rehearsal.task.fromRecording': refused('The tools of a domain', atRecording),
  'rehearsal.task.variants': refused('The tools of a domain', atTask),
  'rehearsal.persona.generate': refused('The tools of a domain'),
  'rehearsal.draft.accept': refused('The audit', () => [{ folder: domain.folder, id: 'lamp-variant' }]),
  'rehearsal.sample.open': asks,
  'rehearsal.benchmark.import': refused('Imports'),
  'rehearsal.chats.import': refused('Imports'),
  'rehearsal.chats.draft': refused('The tools of a domain', atRecording),
  'rehearsal.intents.show': refused('The tools of a domain', () => [before]),
  'rehearsal.model.key': asks,
  'rehearsal.model.test': refused('Tests of a connection'),
  'rehearsal.log.show': gives(null),
  'rehearsal.editor.visual': {
    args: () => [fileAt(persona)],
    sees: showsPage('it needs a trusted workspace'),
  },
  'rehearsal.editor.text': {
    args: () => [fileAt(persona)],
    sees: () => workbench.waitForText('.editor-group-container.active .view-lines', 'id: hurried'),
  },
  'rehearsal.tool.try': {
    args: () => [{ folder: domain.folder, tool: 'cancel_order' }],
    sees: showsPage('this workspace is not trusted'),
  },
};

type Contributed = { readonly command: string; readonly title: string };
const contributed = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).contributes
  .commands as readonly Contributed[];

const isAsking = () =>
  workbench.page.locator('.quick-input-widget:not([style*="display: none"]), .monaco-dialog-box').first().isVisible();

async function escaped(): Promise<void> {
  await until('the question', async () => expect(await isAsking()).toBe(true));
  await until('no question', async () => {
    await workbench.press('Escape');
    expect(await isAsking()).toBe(false);
  });
}

/** Returns the commands of the command line that were started; of any other process, the whole command. */
function started(): readonly string[] {
  return probe.noted().flatMap(({ type, words }) => {
    if (type === 'watched') return [];
    const at = words.findIndex((word) => word.endsWith('rehearsal.mjs'));
    const [command = '', action = ''] = words.slice(at + 1);
    return at < 0 ? [`${type} ${words.join(' ')}`] : [command === 'synth' ? `${command} ${action}` : command];
  });
}

test('every command is tried, and none that is not there', () => {
  expect(Object.keys(tried).toSorted()).toEqual(contributed.map(({ command }) => command).toSorted());
});

describe.each(contributed)('$command ($title)', ({ command }) => {
  const { args = () => [], refused: what, starts = [], answer, sees } = tried[command] as Tried;

  test(what === undefined ? 'does what it does' : 'starts nothing and says so', async () => {
    await workbench.clearNotifications();
    probe.forget();
    const end = probe.ask(command, args());
    await answer?.();
    const ended = await until('the end of the command', async () => {
      const found = end();
      if (!found) throw new Error((await isAsking()) ? 'it asks for something' : 'it is still running');
      return found;
    });
    expect(ended.error).toBeNull();
    if (what !== undefined) {
      const sentence = `${what} start only in a trusted workspace: the tools of a domain are programs. Nothing was started.`;
      await workbench.notification(sentence);
      // The window handles what extensions ask in order, so a later question is answered after all notifications.
      await run('workbench.action.keepEditor');
      expect([ended.value || null, await workbench.notifications()]).toEqual([null, [sentence]]);
      expect(await isAsking()).toBe(false);
    }
    await sees?.(ended);
    expect(started()).toEqual(starts);
    expect([existsSync(mark), await debugs()]).toEqual([false, 0]);
    if (what === undefined) await run('workbench.action.closeAllEditors');
  });
});

const debugs = () => workbench.page.locator('.debug-toolbar').count();

async function run(command: string): Promise<void> {
  const end = probe.ask(command);
  await until(command, async () => expect(end()).not.toBeNull());
}

/** Waits until a command of the probe ends, and returns its result. */
async function ended(command: string, ...args: readonly unknown[]): Promise<Answer> {
  const end = probe.ask(command, args);
  return until(`the end of ${command}`, async () => {
    const found = end();
    if (!found) throw new Error('it is still running');
    return found;
  });
}

describe('the tools for the editor’s own agent', () => {
  const recording = () => ({ recording: recordingIn(before) });
  test.each([
    ['rehearsal_runTask', () => ({ task: 'lamp-variant' })],
    ['rehearsal_explainFailure', recording],
  ])('%s starts nothing and says so', async (tool, input) => {
    probe.forget();
    const { value, error } = await ended('probe.invokeTool', tool, input());
    const sentence = 'this workspace is in Restricted Mode: domain code does not run. Ask the user to trust it';
    expect([value, error]).toEqual([null, expect.stringContaining(sentence)]);
    expect(error?.split('Restricted Mode')).toHaveLength(2);
    expect([started(), existsSync(mark)]).toEqual([[], false]);
  });

  test.each([
    ['rehearsal_checkDomain', () => ({ domain: 'order-desk' }), 'check', /^order-desk: \d+ tasks, 0 findings/],
    ['rehearsal_readTrajectory', recording, 'replay', /change_item/],
  ])('%s reads, and nothing of the domain runs', async (tool, input, command, text) => {
    probe.forget();
    const { value, error } = await ended('probe.invokeTool', tool, input());
    expect([error, value]).toEqual([null, expect.stringMatching(text)]);
    expect([started(), existsSync(mark)]).toEqual([[command], false]);
  });

  test('no domain is offered as an MCP server', async () => {
    probe.forget();
    const { error } = await ended('workbench.mcp.startServer', '*', { waitForLiveTools: true });
    expect(error).toBeNull();
    const { value } = await ended('probe.tools');
    expect(value).toContain('rehearsal_checkDomain');
    expect((value as readonly string[]).filter((name) => name.startsWith('mcp_'))).toEqual([]);
    expect([started(), existsSync(mark)]).toEqual([[], false]);
  });
});

describe('the editor reads texts in an untrusted folder', () => {
  test.each([
    ['completes', 'persona: ', 'vscode.executeCompletionItemProvider', 'hurried'],
    ['explains', 'tool: change_i', 'vscode.executeHoverProvider', 'change_item'],
    ['finds', 'tool: change_i', 'vscode.executeDefinitionProvider', 'tools.ts'],
    ['finds uses of', 'tool: change_i', 'vscode.executeReferenceProvider', 'rules.yaml'],
    ['renames', 'tool: change_i', 'vscode.executeDocumentRenameProvider', 'tools.ts', 'swap_item'],
  ])('it %s the name at "%s"', async (_, words, provider, found, ...rest) => {
    probe.forget();
    const { value, error } = await ended('probe.language', fileAt(task), words, provider, ...rest);
    expect(error).toBeNull();
    expect((value as readonly string[]).join('\n')).toContain(found);
    expect([started(), existsSync(mark)]).toEqual([[], false]);
  });

  test('it formats a file, and keeps what is formatted as it is', async () => {
    const { value, error } = await ended('probe.language', fileAt(task), '', 'vscode.executeFormatDocumentProvider', {
      tabSize: 2,
      insertSpaces: true,
    });
    expect([value, error]).toEqual([[], null]);
  });
});

test('a new domain from an MCP server is refused once that is chosen', async () => {
  await workbench.clearNotifications();
  probe.forget();
  const end = probe.ask('rehearsal.domain.new');
  await workbench.pick('From an MCP server…');
  await workbench.notification('MCP servers start only in a trusted workspace');
  await until('its end', async () => expect(end()?.value).toBeNull());
  expect(started()).toEqual([]);
});

test('the probe sees what a command starts, and what is started below that', async () => {
  probe.forget();
  const end = probe.ask('rehearsal.run.report', [before]);
  await until('the report', async () => expect(end()).not.toBeNull());
  const types = probe.noted().map(({ type, words }) => [type, words.includes('report')]);
  expect(types).toEqual([
    ['started', true],
    ['watched', true],
  ]);
});
