import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { dialogueCorpus } from '../../scripts/benchmarks/supportDialogues.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

/** Returns the technical support dialogues of a public data set. */
async function supportDialogues(): Promise<readonly (readonly [request: string, answer: string])[]> {
  await dialogueCorpus.setUp();
  const find = 'import chatterbot_corpus as c; print(c.__path__[0])';
  const folder = execFileSync(dialogueCorpus.path(), ['-c', find], { encoding: 'utf8' }).trim();
  const text = readFileSync(join(folder, 'data', 'english', 'tech_support.yml'), 'utf8');
  return (parse(text) as { readonly conversations: readonly (readonly [string, string])[] }).conversations;
}

/** Writes a desk with these answers: the agent looks them up in articles, by the subject of the request. */
function adviceDesk(dialogues: readonly (readonly [string, string])[]): string {
  const folder = temporaryFolder('advice-desk');
  const articles = Object.fromEntries(
    dialogues.map(([request, advice]) => [/\b(?:my|any) (\w+)/i.exec(request)?.[1] ?? '', { advice }]),
  );
  const files: Readonly<Record<string, string>> = {
    'domain.yaml': 'name: advice-desk\n',
    'policy.md': 'You help people with their devices.\n\n- Give the advice of the article, and no other.\n',
    'database.json': JSON.stringify({ articles }),
    'personas/plain.persona.yaml': 'id: plain\ndescription: Somebody with a device that does not work.\n',
    'tools.ts': `import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { articles: Record<string, { advice: string }> } }>();
export const find_advice = tool({
  description: 'The article about a device.',
  effect: 'read',
  input: z.object({ article: z.string() }),
  run: ({ article }, { db }) => {
    const found = db.articles[article];
    if (!found) throw new ToolError('there is no such article');
    return found;
  },
});
`,
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  mkdirSync(join(folder, 'tasks'));
  return folder;
}

/** A user who gives more personal data than needed. */
const planted = {
  said: 'I am Henrike Osterloh, henrike.osterloh@posteo.de, +49 151 98765432, card 4111 1111 1111 1111.',
  gone: /Henrike|Osterloh|posteo|98765432|4111 1111/i,
};

inFullSuite('public support dialogues become tasks that pass the audit and are rehearsed', async () => {
  const dialogues = await supportDialogues();
  expect(dialogues.length).toBeGreaterThan(1000);
  const domain = adviceDesk(dialogues);
  const chats = dialogues.map(([request, answer], index) => ({
    id: `support-${index}`,
    messages: [
      { role: 'user', content: index % 10 === 0 ? `${request} ${planted.said}` : request },
      { role: 'assistant', content: answer },
    ],
  }));
  const log = join(domain, 'log.jsonl');
  writeFileSync(log, chats.map((chat) => `${JSON.stringify(chat)}\n`).join(''));
  const run = join(domain, 'run');
  const imported = await rehearsal('import', 'chats', log, '--domain', domain, '--out', run, '--yes', '--json');
  expect(imported).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(imported.out)).toMatchObject({ problems: [], masked: { name: 2, email: 1, phone: 1, card: 1 } });
  for (const name of readdirSync(run)) expect(readFileSync(join(run, name), 'utf8')).not.toMatch(planted.gone);

  const { code, out } = await rehearsal('coverage', 'chats', run, '--json');
  const { intents } = JSON.parse(out) as {
    readonly intents: readonly { readonly requests: readonly string[]; readonly example: { readonly name: string } }[];
  };
  expect(code).toBe(1);
  // The data set has ten subjects; "my screen" and "my laptop screen" are alike.
  expect(intents.length).toBeGreaterThanOrEqual(8);
  expect(intents.length).toBeLessThanOrEqual(10);
  expect(intents.reduce((sum, { requests }) => sum + requests.length, 0)).toBe(dialogues.length);

  const examples = intents.map(({ example }) => example.name);
  const drafted = await rehearsal('draft', 'from-chats', ...examples, '--json');
  expect(JSON.parse(drafted.out)).toMatchObject({ sound: intents.length });
  expect(await rehearsal('draft', 'accept', domain, '--all')).toMatchObject({ code: 0 });
  const rehearsed = await rehearsal('eval', domain, '--out', join(domain, 'gold'), '--gate', 'reward>=1');
  expect(rehearsed.out).toMatch(new RegExp(`${intents.length} scored of ${intents.length}, mean reward 1\\.000`));
  expect((await rehearsal('coverage', 'chats', run)).code).toBe(0);
});
