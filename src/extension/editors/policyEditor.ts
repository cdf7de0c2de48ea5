import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { type ParsedPolicy, type PolicyBlock, parsePolicy } from '../../engine/core/domain/policy.ts';
import type { Rule } from '../../engine/core/domain/rule.ts';
import { tasksThatTry } from '../../engine/shell/checks/checkCoverage.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { placeOf } from '../../engine/shell/source/items.ts';
import {
  addRuleEdits,
  inParagraphs,
  isHeading,
  markEdits,
  moveRuleEdits,
  removeRuleEdits,
  ruleEdits,
  ruleTextOf,
} from '../../language/edits/policyEdit.ts';
import type { PolicyContent, RuleCard } from '../../webview/messages/protocol.ts';
import { lastResults } from '../language/lastResult.ts';
import type { RuleResult } from '../runs/lastResults.ts';
import { runPlacesOf } from '../runs/runPlaces.ts';
import { columnBeside } from '../workspace/walkthrough.ts';
import type { Content, FileScene, VisualEditor } from './editorSession.ts';

/** Tasks that a rule names; the others are counted. */
const shownTasks = 12;

/** The visual editor of policies: their rules as cards. */
export const policyEditor: VisualEditor = {
  view: 'policyEditor',
  title: 'Policy',
  followsDomain: true,
  contentOf: async (scene) => shownOf(scene, await resultsOf(scene)),
  editsOf: (message) => {
    switch (message.type) {
      case 'setRule':
        return (text) => ruleEdits(text, message.line, message.text);
      case 'markRule':
        return (text) => markEdits(text, message.line, message.id);
      case 'addRule':
        return (text) => addRuleEdits(text, message.section, message.text, message.id);
      case 'moveRule':
        return (text) => moveRuleEdits(text, message.line, message.direction);
      case 'removeRule':
        return (text) => removeRuleEdits(text, message.line);
      default:
        return undefined;
    }
  },
  open: (message, scene) => {
    if (message.type === 'openCheck') return openCheck(scene, message.index);
    if (message.type === 'openRules') return openRules(scene);
    return message.type === 'openRuleRecording' ? openRecording(scene, message.rule) : undefined;
  },
};

/** The domain whose policy the document is. */
function domainOf({ domain, document }: FileScene): LoadedDomain | undefined {
  return domain?.parts.policyFile === document.uri.fsPath ? domain : undefined;
}

async function resultsOf(scene: FileScene): Promise<ReadonlyMap<string, RuleResult>> {
  const domain = domainOf(scene);
  return domain ? (await lastResults()).ofRules(domain.folder, runPlacesOf(domain.folder)) : new Map();
}

async function openCheck(scene: FileScene, index: number): Promise<void> {
  const at = domainOf(scene)?.locations.rules[index];
  if (!at) return;
  const selection = new vscode.Range(at.line - 1, 0, at.line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(at.file), { viewColumn: columnBeside(), selection });
}

/** Opens the file of the rules' checks at its end. One that is missing opens as a new file. */
async function openRules(scene: FileScene): Promise<void> {
  const domain = domainOf(scene);
  if (!domain) return;
  const file = vscode.Uri.file(join(domain.folder, domain.file.rules));
  const document = await vscode.workspace.openTextDocument(
    existsSync(file.fsPath) ? file : file.with({ scheme: 'untitled' }),
  );
  const end = document.lineAt(document.lineCount - 1).range.end;
  await vscode.window.showTextDocument(document, {
    viewColumn: columnBeside(),
    selection: new vscode.Range(end, end),
  });
}

async function openRecording(scene: FileScene, rule: string): Promise<void> {
  const found = (await resultsOf(scene)).get(rule);
  if (found) await vscode.commands.executeCommand('rehearsal.recording.open', found.recording, columnBeside());
}

function shownOf(scene: FileScene, results: ReadonlyMap<string, RuleResult>): Content {
  const text = scene.document.getText();
  const domain = domainOf(scene);
  const parsed = parsePolicy(text);
  const problems = parsed.problems.map(({ message, hint, line }) => ({ message: `${message} ${hint}`, line }));
  const content: PolicyContent = {
    editor: 'policy',
    sections: sectionsOf(parsed, text, domain, results),
    problems,
    hasDomain: domain !== undefined,
  };
  return { broken: null, items: [{ label: 'policy', problem: null }], index: 0, errors: [], content };
}

type Section = PolicyContent['sections'][number];

/** The rules below the headings that they are under. A heading with a mark is a rule of its own section. */
function sectionsOf(
  parsed: ParsedPolicy,
  text: string,
  domain: LoadedDomain | undefined,
  results: ReadonlyMap<string, RuleResult>,
): Section[] {
  const sections: Section[] = [{ title: null, line: 1, notes: [], rules: [] }];
  for (const block of parsed.blocks) {
    const isTitle = isHeading(text, block);
    if (isTitle) sections.push({ title: block.text, line: block.line, notes: [], rules: [] });
    const section = sections.at(-1) as Section;
    if (!block.isRule) section.notes.push({ text: block.text, line: block.line });
    else if (!isTitle || block.id !== null) section.rules.push(cardOf(block, parsed, text, domain, results));
  }
  return sections.filter(({ title, notes, rules }) => title !== null || notes.length > 0 || rules.length > 0);
}

function cardOf(
  block: PolicyBlock,
  { marks }: ParsedPolicy,
  text: string,
  domain: LoadedDomain | undefined,
  results: ReadonlyMap<string, RuleResult>,
): RuleCard {
  // A check may name a rule by a quote of its words, and the domain then knows it by an id that no mark has.
  const known = domain?.parts.policy.policy.rules.find(({ line }) => line === block.line)?.id;
  const id = block.id ?? known ?? null;
  const tried = id !== null && domain ? tasksThatTry(domain.parts, id) : { every: false, tasks: [] };
  const result = id === null ? undefined : results.get(id);
  const written = ruleTextOf(text, block, marks);
  return {
    line: block.line,
    id: block.id,
    text: written && inParagraphs(written.text),
    plain: block.text,
    isHeading: isHeading(text, block),
    checks: id === null || !domain ? [] : checksOf(domain, id),
    tasks: tried.tasks.slice(0, shownTasks),
    taskCount: tried.tasks.length,
    isAlwaysTried: tried.every,
    result: result
      ? {
          held: result.held,
          violated: result.violated,
          unknown: result.unknown,
          recording: basename(result.recording, '.traj.jsonl'),
        }
      : null,
  };
}

function checksOf({ parts }: LoadedDomain, id: string): RuleCard['checks'] {
  return parts.rules.flatMap((placed, index) => {
    if (placed.value.rule !== id) return [];
    const { line, file } = placeOf(placed);
    const { check, gate, layer = null } = placed.value;
    return [{ index, check, gate, layer, file: basename(file), line, says: checkSettingsText(placed.value) }];
  });
}

/** Returns what a check says beside its kind, in the words of its file. */
function checkSettingsText(rule: Rule): string {
  const { rule: _rule, check: _check, gate: _gate, layer: _layer, ...rest } = rule;
  return Object.entries(rest)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join('\n');
}
