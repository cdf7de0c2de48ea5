import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { rewardText } from '../../engine/core/events/displayText.ts';
import { firstLine, lastLines } from '../../engine/shell/records/recordingEnds.ts';
import { forkLabel, forkNumber, originName, recordingEnding } from '../../engine/shell/records/recordingName.ts';

/** One recording among its forks. */
export type ForkNode = {
  readonly path: string;
  /** `lamp-variant.0`, or `fork 2`. */
  readonly label: string;
  /** The recording it forks from, and the last event that they share; null for the first. */
  readonly parent: { readonly name: string; readonly event: number; readonly edit: string } | null;
  readonly seats: { readonly agent: string; readonly user: string };
  /** The reward: null if it has none, undefined if the rollout has not reached its reward. */
  readonly reward: number | null | undefined;
  readonly children: readonly ForkNode[];
};

type Head = Omit<ForkNode, 'children' | 'label'>;

/** The tree that a recording belongs to: the first recording, and below each those that fork from it. */
export async function forkTreeOf(recording: string): Promise<readonly ForkNode[]> {
  const folder = dirname(recording);
  const family = originName(recording);
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.endsWith(recordingEnding) && originName(name) === family,
  );
  const heads = await Promise.all(names.map((name) => headOf(join(folder, name))));
  return treeOf(heads.filter((head) => head !== null));
}

/** Recordings below their parents, in the order in which they were made. */
export function treeOf(heads: readonly Head[]): readonly ForkNode[] {
  const known = new Set(heads.map(({ path }) => basename(path)));
  const nodes = (of: (head: Head) => boolean): readonly ForkNode[] =>
    heads
      .filter(of)
      .toSorted((a, b) => forkNumber(a.path) - forkNumber(b.path))
      .map((head) => ({
        ...head,
        label: forkLabel(head.path),
        children: nodes(({ parent }) => parent?.name === basename(head.path)),
      }));
  // A fork whose parent was deleted is at the top.
  return nodes(({ parent }) => parent === null || !known.has(parent.name));
}

/** Every recording of a tree, parents first. */
export function allNodes(nodes: readonly ForkNode[]): readonly ForkNode[] {
  return nodes.flatMap((node) => [node, ...allNodes(node.children)]);
}

/**
 * Describes a fork by its edit, with the last step that it shares with its parent. An edit that names its own step has
 * only that: two numbers for one fork look like two steps.
 */
export function editText({ parent }: Pick<ForkNode, 'parent'>): string {
  if (!parent) return '';
  return /\bstep \d/.test(parent.edit) ? parent.edit : `after step ${parent.event}: ${parent.edit}`;
}

/** The result of a recording in the words of the Runs view. */
export function resultText({ reward }: Pick<ForkNode, 'reward'>): string {
  return reward === undefined ? 'unfinished' : rewardText(reward);
}

type Started = {
  readonly type: string;
  readonly seats: ForkNode['seats'];
  readonly parent?: { readonly recording: string; readonly event: number; readonly edit: string };
};

/** Returns what the first and the last line of a recording say; null where the first says nothing. */
async function headOf(path: string): Promise<Head | null> {
  const started = eventIn<Started>(await firstLine(path).catch(() => ''));
  if (started?.type !== 'rolloutStarted') return null;
  const [last = ''] = (await lastLines(path)).slice(-1);
  const ended = eventIn<{ readonly type: string; readonly reward?: number | null }>(last);
  const { parent, seats } = started;
  return {
    path,
    seats,
    parent: parent ? { name: basename(parent.recording), event: parent.event, edit: parent.edit } : null,
    reward: ended?.type === 'rewarded' ? ended.reward : undefined,
  };
}

function eventIn<Event>(line: string): Event | null {
  try {
    return (JSON.parse(line) as { readonly event: Event }).event;
  } catch {
    return null;
  }
}
