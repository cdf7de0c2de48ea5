import { dirname, resolve } from 'node:path';
import * as vscode from 'vscode';
import type * as engine from '../../engine/shell/approvals/approvals.ts';
import type { Effects } from '../../engine/shell/approvals/effects.ts';
import { showInformationMessage, showWarningMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { pickDomain } from '../workspace/workspaceDomains.ts';

/** Hashes that were declined in this session: a command that runs in the background does not ask again and again. */
const declined = new Set<string>();

/**
 * Shows what a domain or an agent does outside of the sandbox, and asks whether it may. An approval is remembered where
 * the command line finds it too. False where the person declines.
 */
export async function askForApproval(approval: engine.Approval): Promise<boolean> {
  if (declined.has(approval.hash)) return false;
  const { name, path, effects, sandbox, edited } = approval;
  const [approve, approveEdits] = ['Approve', 'Approve with Later Edits'];
  const message = `Approve what "${name}" does outside of the sandbox?`;
  const list = [...effects.map((each) => `• ${each}`), ...(sandbox ? ['', sandbox] : [])];
  const { visible } = await import('../../engine/shell/approvals/effects.ts');
  const when = edited ? `this or ${edited.files} changes` : 'this changes';
  const own = edited
    ? [
        `If you write ${edited.files} yourself, choose "${approveEdits}": Rehearsal then stops asking, even if someone else changes the file.`,
      ]
    : [];
  const detail = [...list, '', `${visible(path)}. You are asked again when ${when}.`, ...own].join('\n');
  const choices = edited ? [approve, approveEdits] : [approve];
  const chosen = await showWarningMessage(message, { modal: true, detail }, ...choices);
  if (chosen === undefined || !choices.includes(chosen)) {
    declined.add(approval.hash);
    const later = 'Choose "Rehearsal: Approve Domain…" to approve it later.';
    void showInformationMessage(`Nothing of "${name}" was started. ${later}`);
    return false;
  }
  const { rememberApproval } = await import('../../engine/shell/approvals/approvals.ts');
  rememberApproval(chosen === approveEdits && edited ? { ...approval, ...edited } : approval, process.env);
  return true;
}

/** Asks for the domain and the agent of a debug configuration, before the adapter is started. */
export async function askForLaunch(configuration: vscode.DebugConfiguration): Promise<void> {
  const { domain, agent } = configuration;
  const interpreter = await interpreterEffects(configuration);
  if (interpreter) await askFor(interpreter);
  if (typeof domain !== 'string') return;
  const { effectsIn } = await import('../../engine/shell/approvals/effects.ts');
  const agents = typeof agent === 'string' ? await agentEffects(agent, domain) : null;
  for (const effects of [effectsIn(domain), agents]) if (effects) await askFor(effects);
}

/** Asks for approval of a domain that the user chose, even if they declined before. Returns whether it is approved. */
export async function approveDomain(target: unknown): Promise<boolean> {
  if (!mayRun('The programs of a domain')) return false;
  const given = (target as { readonly folder?: string } | undefined)?.folder;
  const folder = given ?? (await pickDomain());
  if (folder === undefined) return false;
  const { effectsIn } = await import('../../engine/shell/approvals/effects.ts');
  const effects = effectsIn(folder);
  if (!effects) return false;
  declined.clear();
  const isAsked = await askFor(effects);
  if (isAsked === null) void showInformationMessage(`"${effects.name}" needs no approval.`);
  return isAsked ?? true;
}

/** Null where there is nothing to ask. */
async function askFor(effects: Effects): Promise<boolean | null> {
  const { approvalFor } = await import('../../engine/shell/approvals/approvals.ts');
  const approval = approvalFor(effects);
  return approval && askForApproval(approval);
}

/** The interpreter that launch.json names for a checkpoint; null where it names none, and for that of the settings. */
async function interpreterEffects(configuration: vscode.DebugConfiguration): Promise<Effects | null> {
  const { agent, forkAgent, domain, recording, python } = configuration;
  const isServed = [agent, forkAgent].some((each) => String(each ?? '').startsWith('checkpoint:'));
  if (!isServed || !python?.length) return null;
  const { effectsOfInterpreters } = await import('../../engine/shell/approvals/effects.ts');
  const command = typeof python === 'string' ? (python.startsWith('[') ? JSON.parse(python) : [python]) : python;
  const path = resolve(domain ?? dirname(recording ?? ''), 'launch.json');
  const effects = effectsOfInterpreters(path, { python: command });
  const own = vscode.workspace.getConfiguration('rehearsal').get('trainer.python');
  if (JSON.stringify(own) !== JSON.stringify(python)) return effects;
  const { rememberEffects } = await import('../../engine/shell/approvals/approvals.ts');
  rememberEffects(effects, process.env);
  return null;
}

/** Returns what an agent's file starts or reaches; null for any other seat, and for a file that cannot be read. */
async function agentEffects(agent: string, domain: string): Promise<Effects | null> {
  const path = /^agent:(.+)$/.exec(agent)?.[1];
  if (path === undefined) return null;
  const { effectsOfAgent } = await import('../../engine/shell/approvals/effects.ts');
  const { readAgentFile } = await import('../../engine/shell/load/agentFile.ts');
  const { parseLentModel } = await import('../../engine/shell/models/parseSeat.ts');
  const seat = readAgentFile(path, [process.cwd(), resolve(domain)], (model) => parseLentModel(model, process.env));
  return typeof seat === 'string' ? null : effectsOfAgent(seat);
}
