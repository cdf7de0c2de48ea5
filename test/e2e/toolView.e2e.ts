import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FromEditor } from '../../src/webview/messages/protocol.ts';
import { inFullSuite } from '../support/suite.ts';
import { newestQuestion, personaShown, simulatedShown, toolShown } from './support/editorPages.ts';
import { themes } from './support/themes.ts';
import { until } from './support/until.ts';
import { openViewBrowser, type ViewBrowser, type ViewPage } from './support/viewPage.ts';

/** Tests the form to try a tool: its questions, the values that it sends, and those that it never sends. */
let browser: ViewBrowser;

beforeAll(async () => {
  browser = await openViewBrowser();
});

afterAll(async () => {
  await browser?.close();
});

async function opened(shown = toolShown): Promise<ViewPage> {
  const view = await browser.open('toolEditor', themes.dark);
  await view.send({ type: 'editor', message: shown });
  await view.page.getByRole('heading', { name: 'Try it' }).waitFor();
  return view;
}

const asked = async (view: ViewPage): Promise<readonly FromEditor[]> =>
  (await view.posted()).flatMap((message) => (message.type === 'editor' ? [message.message] : []));
const calls = async (view: ViewPage) => (await asked(view)).filter(({ type }) => type === 'call');
const call = (view: ViewPage) => view.page.getByRole('button', { name: 'Call refund' }).click();

/** Answers the form's last question, once it is about these arguments. */
async function answer(view: ViewPage, args: object, ...misfits: { path: (string | number)[]; message: string }[]) {
  await until('the question', async () => expect((await newestQuestion(view)).arguments).toEqual(args));
  const { question } = await newestQuestion(view);
  await view.send({ type: 'editor', message: { type: 'callChecked', question, misfits } });
}

test('nothing is sent before the engine has validated it, and then exactly the shown values', async () => {
  const view = await opened();
  await call(view);
  const missing = { path: ['order_id'], message: 'the argument order_id is missing.' };
  await answer(view, {}, missing, { path: ['to'], message: 'the argument to is missing.' });
  await view.page.getByText('Not called: 2 values are not valid.').waitFor();
  expect(await calls(view)).toEqual([]);
  await view.page.getByLabel('order_id', { exact: true }).fill('W1');
  await view.page.getByLabel('to: variant').selectOption({ label: 'kind: card' });
  await view.page.getByLabel('last4').fill('1234');
  await view.page.getByLabel('amount (optional)').fill('twelve');
  await view.page.getByRole('button', { name: 'Add item to items' }).click();
  await view.page.getByLabel('sku').fill('S1');
  const args = { order_id: 'W1', to: { kind: 'card', last4: '1234' }, amount: 'twelve', items: [{ sku: 'S1' }] };
  await call(view);
  await answer(view, args, { path: ['amount'], message: 'amount must be of type number.' });
  await view.page.getByText('Not called: one value is not valid.').waitFor();
  expect(await view.page.getByLabel('amount (optional)').getAttribute('aria-invalid')).toBe('true');
  expect(await calls(view)).toEqual([]);
  await view.page.getByLabel('amount (optional)').fill('12');
  await call(view);
  await answer(view, { ...args, amount: 12 });
  await until('the call', async () =>
    expect(await calls(view)).toEqual([{ type: 'call', arguments: { ...args, amount: 12 }, task: null }]),
  );
  await view.close();
});

inFullSuite('arguments that become known later have their form then', async () => {
  const { content } = toolShown;
  if (content?.editor !== 'tool') throw new Error('it is not a tool');
  const unknown = { ...content, tool: { ...content.tool, parameters: null }, undescribed: 'The tools are being read…' };
  const view = await opened({ ...toolShown, content: { ...unknown, untriable: 'Its arguments are not known yet.' } });
  await view.page.getByText('Its arguments are not known yet.').waitFor();
  await view.send({ type: 'editor', message: toolShown });
  await view.page.getByLabel('order_id', { exact: true }).fill('W1');
  expect(await view.complaints()).toEqual([]);
  await view.close();
});

inFullSuite('what is changed after the press is not sent', async () => {
  const view = await opened();
  await view.page.getByLabel('Fill in from').selectOption({ index: 1 });
  const args = { order_id: 'W1', to: { kind: 'card', last4: '1234' } };
  await until('the question', async () => expect((await newestQuestion(view)).arguments).toEqual(args));
  await call(view);
  const { question } = await newestQuestion(view);
  await view.page.getByLabel('urgent (optional)').selectOption('true');
  await view.send({ type: 'editor', message: { type: 'callChecked', question, misfits: [] } });
  await answer(view, { ...args, urgent: true });
  expect(await calls(view)).toEqual([]);
  await view.close();
});

inFullSuite('the same arguments as JSON and as a form, and a text that is not JSON is not sent', async () => {
  const view = await opened();
  await view.page.getByLabel('Fill in from').selectOption({ index: 1 });
  await view.page.getByRole('button', { name: 'Show as JSON' }).click();
  const json = view.page.getByLabel('Arguments as JSON');
  expect(JSON.parse(await json.inputValue())).toEqual({ order_id: 'W1', to: { kind: 'card', last4: '1234' } });
  await json.fill('{"order_id": "W2", ');
  await view.page.getByText(/This is not JSON: /).waitFor();
  expect(await view.page.locator('vscode-button', { hasText: 'Call refund' }).getAttribute('disabled')).not.toBeNull();
  await view.page.getByText('This is not JSON. Correct it to call the tool.').waitFor();
  expect((await newestQuestion(view)).arguments).toEqual({ order_id: 'W1', to: { kind: 'card', last4: '1234' } });
  await json.fill('{"order_id": "W2", "to": {"kind": "voucher"}}');
  await view.page.getByText(/This is not JSON: /).waitFor({ state: 'detached' });
  await view.page.getByRole('button', { name: 'Show as Form' }).click();
  expect(await view.page.getByLabel('order_id', { exact: true }).inputValue()).toBe('W2');
  expect(await view.page.getByLabel('to: variant').inputValue()).toBe('1');
  expect(await calls(view)).toEqual([]);
  await view.close();
});

test('without trust, or without a model, it says why it calls nothing', async () => {
  for (const [shown, reason] of [
    [{ ...toolShown, isTrusted: false }, /this workspace is not trusted/],
    [simulatedShown, /domain\.yaml names none/],
  ] as const) {
    const view = await opened(shown);
    await view.page.getByText(reason).waitFor();
    await view.page.locator('vscode-button', { hasText: 'Call refund' }).click({ force: true });
    expect(await calls(view)).toEqual([]);
    expect(await view.accessibility()).toEqual([]);
    await view.screenshot(shown === simulatedShown ? 'tool-simulated' : 'tool-untrusted');
    await view.close();
  }
});

test('a tool that is a file is changed by its form', async () => {
  const view = await opened(simulatedShown);
  await view.page.getByRole('button', { name: 'Add Argument' }).last().click();
  await view.page.getByRole('group', { name: 'amount' }).getByLabel('Required').check();
  await view.page.getByLabel('Retries').fill('3');
  await view.page.getByLabel('Retries').blur();
  expect((await asked(view)).filter(({ type }) => type !== 'checkCall')).toEqual([
    { type: 'set', path: ['parameters', 'properties', 'argument'], value: { type: 'string', description: '' } },
    { type: 'set', path: ['parameters', 'required'], value: ['order_id', 'to', 'amount'] },
    { type: 'set', path: ['retries'], value: 3 },
  ]);
  await view.close();
});

inFullSuite('a list, one a line, keeps what is typed between its lines while the file takes it', async () => {
  const view = await opened(simulatedShown);
  const reads = view.page.getByLabel('Reads');
  const takes = async (typed: string, lines: readonly string[]) => {
    await reads.fill(typed);
    const set = { type: 'set', path: ['reads'], value: lines };
    await until('the change', async () => expect(await asked(view)).toContainEqual(set));
    const written = JSON.stringify(simulatedShown).replace('["orders.{order_id}"]', JSON.stringify(lines));
    const name = `${lines.length} read`;
    await view.send({ type: 'editor', message: { ...(JSON.parse(written) as typeof simulatedShown), name } });
    await view.page.getByText(name).waitFor();
    expect(await reads.inputValue()).toBe(typed);
  };
  await takes('orders.* \n', ['orders.*']);
  await takes('orders.* \n\n  customers.*', ['orders.*', 'customers.*']);
  await view.close();
});

test('the keyboard alone reaches every control, and changes the one with the focus', async () => {
  const view = await opened(simulatedShown);
  const reached = new Set<string>();
  const name = () => {
    const element = document.activeElement;
    const label = element?.id ? document.querySelector(`label[for="${element.id}"]`) : null;
    return (label ?? element)?.textContent?.trim() ?? '';
  };
  for (let step = 0; step < 80; step++) {
    await view.page.keyboard.press('Tab');
    reached.add(await view.page.evaluate(name));
  }
  for (const wanted of ['Open as Text', 'Name', 'Effect', 'Required', 'Add Argument', 'Retries', 'Show as JSON'])
    expect([...reached]).toContain(wanted);
  await view.close();
  const persona = await browser.open('personaEditor', themes.dark);
  await persona.send({ type: 'editor', message: personaShown });
  await persona.page.getByLabel('Patience').focus();
  await persona.page.keyboard.press('ArrowRight');
  await persona.page.getByLabel('Changes the request midway').focus();
  await persona.page.keyboard.press('Space');
  await until('the changes', async () =>
    expect(await asked(persona)).toEqual([
      { type: 'set', path: [0, 'patience'], value: 5 },
      { type: 'set', path: [0, 'behaviours', 'changes'], value: true },
    ]),
  );
  await persona.close();
});
