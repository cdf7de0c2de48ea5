import { callOf, type Entry, speakers } from './entries.ts';
import { type Finding, reasonLabels } from './findings.ts';
import { stepEntry } from './trajectory.ts';

/** The values that an entry must have to be listed. An empty text matches every entry. */
export type Filter = {
  readonly speaker: string;
  readonly tool: string;
  readonly rule: string;
  readonly who: string;
  readonly reason: string;
  readonly text: string;
};
export type FilterKey = Exclude<keyof Filter, 'text'>;

export const noFilter: Filter = { speaker: '', tool: '', rule: '', who: '', reason: '', text: '' };

/** One choice of a filter, and in how many entries there is something of it. */
export type Choice = { readonly value: string; readonly label: string; readonly count: number };

/** The available choices, the most frequent first. A value without an entry is not offered. */
export type Choices = Readonly<Record<FilterKey, readonly Choice[]>>;

/** Indexes of the entries that a filter leaves, in order. `findings` are those of each entry. */
export function matching(
  entries: readonly Entry[],
  findings: readonly (readonly Finding[])[],
  filter: Filter,
): readonly number[] {
  const text = filter.text.trim().toLowerCase();
  const indexes = entries.map((_, index) => index);
  if (text === '' && Object.values(filter).every((value) => value === '')) return indexes;
  return indexes.filter((index) => {
    const entry = entries[index] as Entry;
    return isChosen(entry, findings[index] ?? [], filter) && (text === '' || searched(entry).includes(text));
  });
}

function isChosen(entry: Entry, findings: readonly Finding[], filter: Filter): boolean {
  const { speaker, tool, rule, who, reason } = filter;
  if (speaker !== '' && entry.speaker !== speaker) return false;
  if (tool !== '' && !toolsOf(entry).includes(tool)) return false;
  if (who === '' && reason === '') return rule === '' || rulesOf(entry).includes(rule);
  // One finding has to answer all three: a rule that held beside another one's violation is not the request.
  return findings.some(
    (finding) =>
      (who === '' || finding.who === who) &&
      (reason === '' || finding.reason === reason) &&
      (rule === '' || finding.rule === rule),
  );
}

/** Returns what can be chosen in these entries. */
export function choicesOf(entries: readonly Entry[], findings: readonly (readonly Finding[])[]): Choices {
  const counts: Record<FilterKey, Map<string, number>> = {
    speaker: new Map(),
    tool: new Map(),
    rule: new Map(),
    who: new Map(),
    reason: new Map(),
  };
  const count = (key: FilterKey, values: readonly string[]): void => {
    for (const value of new Set(values)) counts[key].set(value, (counts[key].get(value) ?? 0) + 1);
  };
  for (const [index, entry] of entries.entries()) {
    const found = findings[index] ?? [];
    count('speaker', [entry.speaker]);
    count('tool', toolsOf(entry));
    count('rule', rulesOf(entry));
    count(
      'who',
      found.flatMap(({ who }) => (who === null ? [] : [who])),
    );
    count(
      'reason',
      found.map(({ reason }) => reason),
    );
  }
  const listed = (key: FilterKey, labels: Readonly<Record<string, string>> = {}): readonly Choice[] =>
    [...counts[key]]
      .map(([value, times]) => ({ value, label: labels[value] ?? value, count: times }))
      .sort((a, b) => b.count - a.count || a.label.localeCompare(b.label));
  return {
    speaker: listed('speaker', speakerLabels).toSorted((a, b) => order(a.value) - order(b.value)),
    tool: listed('tool'),
    rule: listed('rule'),
    who: listed('who', whoLabels),
    reason: listed('reason', reasonLabels),
  };
}

export const speakerLabels: Readonly<Record<string, string>> = {
  agent: 'Agent',
  user: 'User',
  tool: 'Tool calls',
  engine: 'Engine',
};

const whoLabels: Readonly<Record<string, string>> = {
  agent: 'Agent failed',
  simulator: 'Simulator failed',
  environment: 'Environment failed',
  infrastructure: 'Infrastructure failed',
};

const order = (speaker: string): number => (speakers as readonly string[]).indexOf(speaker);

function toolsOf(entry: Entry): readonly string[] {
  const own = callOf(entry)?.name;
  const asked = entry.steps.flatMap(({ event }) =>
    event.type === 'agentReplied' || event.type === 'userReplied' ? (event.toolCalls ?? []) : [],
  );
  // A response in words names its calls; the entry of a call is about that one alone.
  return own === undefined ? asked.map(({ name }) => name) : [own];
}

function rulesOf({ steps }: Entry): readonly string[] {
  return steps.flatMap(({ event }) => (event.type === 'rulesChecked' ? event.verdicts.map(({ rule }) => rule) : []));
}

/** Everything that an entry shows, in lower case; made when it is first searched, and kept as long as the entry. */
function searched(entry: Entry): string {
  const kept = texts.get(entry);
  if (kept !== undefined) return kept;
  const text = entry.steps.map(shownText).join('\n').toLowerCase();
  texts.set(entry, text);
  return text;
}

const texts = new WeakMap<Entry, string>();

function shownText(step: Entry['steps'][number]): string {
  const { title, text, reasoning, code, changes, verdicts } = stepEntry(step);
  return [
    title,
    text,
    reasoning,
    ...(code ?? []).flatMap((block) => [block.label, block.text]),
    ...(changes ?? []).flatMap(({ place, before, after }) => [place, before, after]),
    ...(verdicts ?? []).flatMap(({ name, verdict, detail }) => [name, verdict, detail]),
  ]
    .filter((each) => typeof each === 'string')
    .join('\n');
}
