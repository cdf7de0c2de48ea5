import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyDomain, Workbench } from './support/workbench.ts';

/** Real conversations are imported from a chat log, opened, and made into a task if no task covers their requests. */
const domain = copyDomain('order-desk');
const said = (...texts: readonly string[]) =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
const chats = [
  {
    id: 'chat-501',
    messages: said(
      'hey there, boris tanaka here (boris.tanaka@example.com), you can also call +49 170 1234567. i dont need W1001 anymore, can u cancel?',
      "Thanks, Boris! I've found order W1001. I would cancel it because it is no longer needed. Do you want me to proceed?",
      'yes go ahead',
      'All done! Order W1001 has been cancelled and the refund is on its way within 5 to 7 business days.',
      'perfect, bye',
    ),
  },
  {
    id: 'chat-502',
    messages: said('Hi, I am Petra Winkelmann. Are you open on Sundays?', 'Yes, Petra, from ten to four.', 'Thanks.'),
  },
];
let workbench: Workbench;

beforeAll(async () => {
  writeFileSync(join(domain.folder, 'chats.jsonl'), chats.map((chat) => `${JSON.stringify(chat)}\n`).join(''));
  workbench = await Workbench.open(domain.folder);
});

afterAll(async () => {
  await workbench?.close();
  domain.remove();
});

const pane = (): Locator =>
  workbench.page.locator('.pane').filter({ has: workbench.page.locator('.pane-header[aria-label^="Intents"]') });
const row = (text: string | RegExp): Locator => pane().locator('.monaco-list-row', { hasText: text }).first();

test('a chat log is imported with personal data masked, and opened', async () => {
  await workbench.runCommand('Rehearsal: Import Conversations…');
  await workbench.pick('Chat log');
  await workbench.answerPath(join(domain.folder, 'chats.jsonl'), 'Conversations of');
  await workbench.confirm('Personal data is masked in part', 'Import');
  await workbench.notification(
    /Imported 2 conversations, read as OpenAI chat completions; 3 personal values masked\./,
    'Open the First',
  );
  const view = workbench.webviewFrame();
  await view.getByText(/i dont need W1001 anymore/).waitFor();
  const shown = await view.locator('body').textContent();
  expect(shown).toMatch(/boris tanaka here/);
  expect(shown).not.toMatch(/1234567/);
});

test('the intents that no task tries are listed, and a task is drafted from a conversation', async () => {
  await workbench.runCommand('Rehearsal: Show Intents without a Task');
  await row(/cancel order/).waitFor();
  expect(await row(/cancel order/).textContent()).toMatch(/1 conversation, 18 tasks/);
  const open = row(/no task/);
  expect(await open.textContent()).toMatch(/open.*1 conversation, no task/s);
  await row(/cancel order/).click();
  await row('chat-501').waitFor();
  await workbench.screenshot('conversations-intents');
  await row('chat-501').hover();
  await row('chat-501').getByLabel('Draft Task from Conversation').click();
  await workbench.notification(/The audit finds nothing in this draft/);
  const lines = await workbench.editorLines();
  expect(lines.join('\n').replaceAll('\u00a0', ' ')).toMatch(/draft: true/);
  await workbench.screenshot('conversations-draft');
  const text = readFileSync(join(domain.folder, 'tasks', 'from-chats.task.yaml'), 'utf8');
  expect(text).toMatch(/tool: cancel_order, arguments: \{ order_id: W1001, reason: no longer needed \}/);
});
