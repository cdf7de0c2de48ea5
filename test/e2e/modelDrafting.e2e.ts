import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ScriptedAnswer, serveModel } from '../support/scriptedModel.ts';
import { copyDomain, Workbench } from './support/workbench.ts';

/** A model at the endpoint of the settings drafts variants and a persona, and invalid ones are rejected. */
const domain = copyDomain('parcel-desk');
const key = 'sk-drafting-0123456789';
let script: ScriptedAnswer = () => null;
const model = await serveModel((request, nth) => script(request, nth), { key });
let workbench: Workbench;

beforeAll(async () => {
  const settings = { 'rehearsal.model.baseUrl': model.url };
  workbench = await Workbench.open(domain.folder, { settings, viewport: { width: 1400, height: 900 } });
  await workbench.runCommand('Rehearsal: Set Model Key…');
  await workbench.answer(key);
});

afterEach(async () => {
  model.requests.length = 0;
  await workbench.clearNotifications();
});

afterAll(async () => {
  await workbench?.close();
  model.close();
  domain.remove();
});

/** Sets the model's answers, one for each request; the last one is repeated. */
function says(...answers: readonly string[]): void {
  script = () => answers[Math.min(model.requests.length, answers.length) - 1] ?? null;
}

const lastWords = (nth: number) => model.requests[nth]?.messages.at(-1)?.content ?? '';

const variant = (parcel: string) => ({
  description: 'A parcel that was reported as delivered.',
  persona: 'brief',
  user: {
    goal: `You wait for parcel ${parcel}, and want it reported missing if it came.`,
    opening: `Where is ${parcel}?`,
    known: { parcel },
  },
  actions: [
    { tool: 'find_parcel', arguments: { parcel } },
    { tool: 'report', arguments: { parcel } },
  ],
});
const variants = (...parcels: readonly string[]) => JSON.stringify({ variants: parcels.map(variant) });

/** Requests variants of a task from the model. */
async function askVariants(count: number): Promise<void> {
  await workbench.openFile('tasks/train.task.yaml');
  await workbench.goToLine(domain.lineOf('tasks/train.task.yaml', 'id: missing-P60') + 1);
  await workbench.runCommand('Rehearsal: Generate Task Variants…');
  await workbench.answer(`${count}`);
  await workbench.pick('With a model…');
  await workbench.answer('openai:m');
}

test('a model that writes no task is reported in one clear message, and creates no file', async () => {
  says('I am sorry.');
  await askVariants(2);
  await workbench.notification(
    /m gave no draft that can be used, after 3 tries: it contains no JSON object: "I am sorry\."/,
  );
  expect(model.requests.length).toBe(3);
  expect(existsSync(join(domain.folder, 'tasks', 'missing-P60-variants.task.yaml'))).toBe(false);
});

test('variants that the audit finds something in go back to the model, and the sound ones are drafts', async () => {
  // P01 is on its way: its gold calls fail.
  says(variants('P49', 'P01'), variants('P43'));
  await askVariants(2);
  await workbench.notification(/Drafted 2 tasks\. Review them, and accept the correct ones\./);
  expect(lastWords(0)).toContain('"variants": 2');
  expect(lastWords(1)).toMatch(/could not be used: 1 more are needed, .*P01 is on the way, not delivered/);
  const text = readFileSync(join(domain.folder, 'tasks', 'missing-P60-variants.task.yaml'), 'utf8');
  expect(text).toMatch(/^# Variants of missing-P60, drafted by m\./);
  const drafts = parse(text) as readonly { readonly draft: boolean; readonly user: { readonly known: object } }[];
  expect(drafts.map(({ draft, user }) => [draft, user.known])).toEqual([
    [true, { parcel: 'P49' }],
    [true, { parcel: 'P43' }],
  ]);
  await workbench.waitForText('.tab.active', 'missing-P60-variants');
  await workbench.screenshot('model-variants');
});

test('a persona under which the gold seat fails goes back to the model, and the next one is a draft', async () => {
  const always = { from: 1, to: 1 };
  const gruff = {
    id: 'gruff',
    description: 'Gives up at once.',
    patience: 1,
    behaviours: { omits: true, evades: always, misunderstands: always },
  };
  const carer = {
    id: 'carer',
    description: 'Calls for a neighbour.',
    style: 'chatty',
    patience: 5,
    behaviours: { omits: true },
  };
  says(JSON.stringify(gruff), JSON.stringify(carer));
  await workbench.runCommand('Rehearsal: Generate Persona…');
  await workbench.pick('With a model…');
  await workbench.answer('openai:m');
  await workbench.answer('a carer');
  await workbench.notification(/Drafted 1 persona/);
  expect(lastWords(0)).toContain('"wanted": "a carer"');
  expect(lastWords(1)).toMatch(/could not be used: .*gold seat/i);
  const text = readFileSync(join(domain.folder, 'personas', 'carer.persona.yaml'), 'utf8');
  expect(parse(text)).toEqual({ ...carer, draft: true });
  expect(existsSync(join(domain.folder, 'personas', 'gruff.persona.yaml'))).toBe(false);
  await workbench.waitForText('.tab.active', 'carer.persona');
  await workbench.runCommand('Rehearsal: Accept Draft');
  await workbench.notification(/carer is accepted\. Tasks can name it now/);
  expect(readFileSync(join(domain.folder, 'personas', 'carer.persona.yaml'), 'utf8')).not.toContain('draft: true');
  await workbench.screenshot('model-persona');
});
