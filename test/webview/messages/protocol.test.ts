import { describe, expect, it } from 'vitest';
import {
  type Alarm,
  parseToExtension,
  parseToWebview,
  type ToExtension,
  type ToWebview,
} from '../../../src/webview/messages/protocol.ts';
import { twoRecordings, twoRuns } from '../compared.ts';
import { point } from '../points.ts';

const alarm: Alarm = {
  name: 'tool-loop',
  step: 3,
  message: 'm',
  evidence: { looping: 0.5 },
  recordings: ['trajectories/step-000003/a.0.traj.jsonl'],
  advice: 'a',
  pauses: true,
};

const toWebview: { readonly [Type in ToWebview['type']]: Extract<ToWebview, { type: Type }> } = {
  snapshot: {
    type: 'snapshot',
    runs: [],
    run: null,
    points: [point(1, { reward: 0.5 })],
    status: { type: 'failed', message: 'why' },
    data: null,
    problems: ['p'],
    alarms: [alarm],
  },
  appended: { type: 'appended', run: 'r', points: [{ step: 1, time: null, metrics: {} }] },
  restarted: { type: 'restarted', run: 'r', points: [] },
  status: { type: 'status', run: 'r', status: { type: 'paused', message: 'why' }, data: null, problems: [] },
  alarms: { type: 'alarms', run: 'r', alarms: [alarm] },
  overlaid: { type: 'overlaid', runs: [{ run: 'o', points: [point(1)] }] },
  runs: { type: 'runs', runs: [{ id: 'r', kind: 'sft', model: 'm', domain: 'd', plannedSteps: 3 }] },
  rollouts: {
    type: 'rollouts',
    run: 'r',
    step: 1,
    purpose: 'training',
    rollouts: [{ file: null, task: 't', member: 0, reward: null, turns: 2, endReason: null, failure: 'f' }],
    problem: null,
  },
  recordingOpened: { type: 'recordingOpened', name: 'a.traj.jsonl', total: 1, problem: null },
  recordingGrew: { type: 'recordingGrew', total: 2, problem: 'a torn line' },
  recordingNoted: { type: 'recordingNoted', notes: [{ n: 0, ms: 1.5, input: 10, output: 2, refused: [] }] },
  recordingRead: { type: 'recordingRead', events: [{ n: 0, event: { type: 'worldPrepared', writes: [] } }] },
  comparing: { type: 'comparing', what: 'runs', sources: ['/a', '/b'], note: '2/4 pairs of rollouts' },
  runsCompared: { type: 'runsCompared', comparison: twoRuns },
  recordingsCompared: { type: 'recordingsCompared', comparison: twoRecordings },
  comparisonFailed: { type: 'comparisonFailed', what: 'recordings', problem: 'it is not a recording' },
  trainingText: {
    type: 'trainingText',
    name: 'a.traj.jsonl',
    model: 'tiny',
    dialect: 'compact',
    pieces: [{ text: 'Hi', tokens: 1, trained: true }],
  },
  editor: {
    type: 'editor',
    message: { type: 'ran', isRunning: false, note: '', problem: 'it was cancelled', outcome: null },
  },
};

const toExtension: { readonly [Type in ToExtension['type']]: Extract<ToExtension, { type: Type }> } = {
  ready: { type: 'ready', run: 'r', overlays: ['o'] },
  selectRun: { type: 'selectRun', run: 'r' },
  openStep: { type: 'openStep', run: 'r', step: 2, purpose: 'evaluation' },
  openRollout: { type: 'openRollout', run: 'r', file: 'trajectories/step-000001/a.traj.jsonl' },
  overlay: { type: 'overlay', runs: ['o'] },
  compareStep: { type: 'compareStep', run: 'r', file: 'trajectories/step-000001/a.traj.jsonl' },
  export: { type: 'export', name: 'r-Reward', format: 'png', content: 'aGk=' },
  stop: { type: 'stop', run: 'r' },
  resume: { type: 'resume', run: 'r' },
  train: { type: 'train', kind: 'grpo' },
  showLog: { type: 'showLog' },
  debugRecording: { type: 'debugRecording', step: 3 },
  openPlace: { type: 'openPlace', kind: 'rule', name: 'confirm' },
  openAsText: { type: 'openAsText' },
  timelineToggled: { type: 'timelineToggled', isOpen: false },
  compareRecordings: { type: 'compareRecordings', recordings: ['/a.traj.jsonl', '/b.traj.jsonl'] },
  compareAgain: { type: 'compareAgain' },
  stopComparing: { type: 'stopComparing' },
  openCompared: { type: 'openCompared', recording: '/a.traj.jsonl', debug: true, step: 7 },
  editor: { type: 'editor', message: { type: 'set', path: [0, 'a'], value: { b: [1, null] } } },
};

describe('the protocol of the views', () => {
  it.each(Object.values(toWebview))('brings $type to a webview', (message) => {
    expect(parseToWebview(structuredClone(message))).toEqual({ ok: true, message });
  });

  it.each(Object.values(toExtension))('brings $type to the extension', (message) => {
    expect(parseToExtension(structuredClone(message))).toEqual({ ok: true, message });
  });

  it.each([
    [{ type: 'openStep', run: 'r', step: 'two', purpose: 'evaluation' }, 'message "openStep": step '],
    [{ type: 'export', name: 'x', format: 'exe', content: '' }, 'message "export": format '],
    [{ type: 'train', kind: 'dpo' }, 'message "train": kind '],
    [{ type: 'compareRecordings', recordings: ['/a.traj.jsonl'] }, 'message "compareRecordings": recordings'],
    [{ type: 'openCompared', recording: '/a' }, 'message "openCompared": debug '],
    [{ type: 'openPlace', kind: 'file', name: '/etc/passwd' }, 'message "openPlace": kind '],
    [{ type: 'debugRecording', step: 'x' }, 'message "debugRecording": step '],
    [{ type: 'editor', message: { type: 'set', path: [null], value: 1 } }, 'message "editor": message.path'],
    [{ type: 'unheard' }, 'message "unheard": '],
    [null, 'message "undefined": '],
  ])('names what is wrong with %o', (value, problem) => {
    expect(parseToExtension(value)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  it('refuses a comparison whose numbers are not numbers', () => {
    const [first] = twoRuns.runs;
    const comparison = { ...twoRuns, runs: [{ ...first, metrics: { ...first?.metrics, reward: 'high' } }] };
    expect(parseToWebview({ type: 'runsCompared', comparison })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('comparison.runs.0.metrics.reward'),
    });
  });
});
