import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { forkPointOf } from '../../../../src/engine/shell/records/forkPoint.ts';
import { openRecording, readRecording } from '../../../../src/engine/shell/records/recording.ts';
import { started, user } from '../../../support/rolloutEvents.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const folder = temporaryFolder('rehearsal-forks');

/** Returns a recording with a number of messages, forked from another one after an event. */
function recorded(
  name: string,
  parent?: readonly [recording: string, event: number],
): ReturnType<typeof readRecording> {
  const path = join(folder, `${name}.traj.jsonl`);
  const start = started('t');
  const begin: RolloutEvent =
    start.type === 'rolloutStarted' && parent
      ? {
          ...start,
          parent: { recording: `${parent[0]}.traj.jsonl`, event: parent[1], chain: '', edit: `edit of ${name}` },
        }
      : start;
  const file = openRecording(path);
  for (const [n, event] of [begin, user('a'), user('b'), user('c'), user('d')].entries())
    file.append({ n, event, state: '' });
  file.close();
  return readRecording(path);
}

const root = recorded('root');
const early = recorded('early', ['root', 1]);
const late = recorded('late', ['root', 3]);
const child = recorded('child', ['late', 2]);
const grandchild = recorded('grandchild', ['early', 3]);
const orphan = recorded('orphan', ['gone', 2]);
const sibling = recorded('sibling', ['gone', 3]);
const regraded = recorded('regraded', ['regraded', 4]);

const rootName = 'root.traj.jsonl';
test.each([
  ['a recording and itself', root, root, { event: 4, edits: [null, null], origin: rootName }],
  ['a fork and its parent', early, root, { event: 1, edits: ['edit of early', null], origin: rootName }],
  ['a parent and its fork', root, late, { event: 3, edits: [null, 'edit of late'], origin: rootName }],
  [
    'two forks',
    early,
    late,
    { event: 1, edits: ['edit of early', 'edit of late'], origin: rootName, between: [[], []] },
  ],
  ['a fork before the edit of its parent, and the first', child, root, { event: 2, edits: ['edit of child', null] }],
  [
    'a fork after the edit of its parent, and the first',
    grandchild,
    root,
    { event: 1, edits: ['edit of early, then edit of grandchild', null], between: [['early.traj.jsonl'], []] },
  ],
  ['two forks of what is gone', orphan, sibling, { event: 2, origin: 'gone.traj.jsonl' }],
  ['what was graded again and another', regraded, root, null],
  ['two that are not related', orphan, root, null],
] as const)('%s', (_what, first, second, expected) => {
  const found = forkPointOf(first, second);
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
});
