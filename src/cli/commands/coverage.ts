import { relative, resolve } from 'node:path';
import { type ChatCoverage, chatCoverage } from '../../authoring/drafts/chatCoverage.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { lineExcerpt } from '../../engine/core/text/excerpt.ts';
import { tableLines } from '../../engine/core/text/tableText.ts';
import { domainBeside } from '../../engine/shell/domain/domainBeside.ts';
import { conversationsNamed } from '../drafts/fromChats.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { json, text } from '../options/option.ts';
import { openDomainAt, unknownDomain } from '../options/rolloutOptions.ts';
import { UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';

export const coverage: Command = defineCommand({
  name: 'coverage',
  summary: 'find requests of real users that no task of the domain covers',
  usage: 'chats RECORDINGS [options]',
  actions: ['chats'],
  about: `
Groups real conversations by the user's first request, and lists the tasks that test the same request. RECORDINGS are
imported conversations, or the folder of their run. Only words are compared: those of the domain's tools or, if a request
uses none of them, those of the other requests (TF-IDF). No model is asked.
`,
  options: {
    domain: text('FOLDER', 'the domain whose tasks are compared (default: that of the recordings)'),
    json,
  },
  after: 'Exit code 0: a task covers every intent. 1: an intent has no task.',
  run: async (options, [what, ...named], io) => {
    if (what !== 'chats')
      throw new UsageError(
        `name the recordings: npx rehearsal coverage chats RECORDINGS${what === undefined ? '' : `, not "${what}"`}`,
      );
    const recordings = conversationsNamed(named, io);
    const [first = ''] = recordings;
    const folder = options.domain === undefined ? domainBeside(first) : resolve(io.cwd, options.domain);
    if (folder === undefined) throw unknownDomain(first, 'Name its folder with --domain FOLDER');
    const found = await chatCoverage(openDomainAt(folder), recordings);
    io.out(options.json ? `${JSON.stringify({ folder, ...found })}\n` : coverageText(found, io.cwd));
    return found.intents.every(({ tasks }) => tasks.length > 0) ? 0 : 1;
  },
});

const shownTasks = 3;

function coverageText({ domain, conversations, intents }: ChatCoverage, cwd: string): string {
  const rows = intents.map(({ label, requests, tasks, example }) => [
    label,
    String(requests.length),
    tasks.length === 0
      ? 'none'
      : [
          ...tasks.slice(0, shownTasks),
          ...(tasks.length > shownTasks ? [`and ${tasks.length - shownTasks} more`] : []),
        ].join(', '),
    lineExcerpt(example.text, 60),
  ]);
  const open = intents.filter(({ tasks }) => tasks.length === 0);
  const asked = open.reduce((sum, { requests }) => sum + requests.length, 0);
  const next = open[0]
    ? [`draft a task: npx rehearsal draft from-chats ${shellWord(relative(cwd, open[0].example.name))}`]
    : [];
  const lines = [
    `${domain}: ${counted(conversations, 'conversation')}, ${counted(intents.length, 'intent')}`,
    ...tableLines({ columns: ['intent', 'asked', 'tasks', 'example'], rows }),
    '',
    open.length === 0
      ? 'every intent is covered by a task'
      : `${counted(open.length, 'intent')} of ${counted(asked, 'conversation')} without a task`,
    ...next,
  ];
  return `${lines.join('\n')}\n`;
}
