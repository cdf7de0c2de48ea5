import type * as vscode from 'vscode';
import { namedModel } from '../../engine/core/domain/seatSpec.ts';
import type * as engine from '../../engine/shell/keys/keyOrigins.ts';
import { showWarningMessage } from '../workspace/messages.ts';

/** The key of the consents in the global state: they apply to this user on this machine, not to a workspace. */
const consents = 'rehearsal.allowedKeys';

/** A key, and the origin that it would be sent to. */
export type KeyQuestion = Extract<engine.KeyDecision, { type: 'ask' }>;

/** The storage of the consents. */
type ConsentStore = Pick<vscode.ExtensionContext, 'globalState'>;

/** The consents that were given, as the command line takes them. */
export function allowedKeysOf(extension: ConsentStore): readonly string[] {
  return extension.globalState.get<readonly string[]>(consents, []);
}

/** The keys declined in this session, so that a command that runs in the background does not ask again and again. */
const declined = new Set<string>();

/** Asks whether a key may be sent to an origin, and remembers the consent. False where the person declines. */
export async function askForKey(
  { extension }: { readonly extension: ConsentStore },
  question: KeyQuestion,
): Promise<boolean> {
  const { name, origin, home } = question;
  const entry = `${name}=${origin}`;
  if (declined.has(entry)) return false;
  const send = 'Send the Key';
  const belongs = home === null ? `${name} was not allowed for any address yet.` : `${name} belongs to ${home}.`;
  const detail = `${belongs} The operator of ${origin} can use the key. The answer is remembered on this machine.`;
  const chosen = await showWarningMessage(`Send ${name} to ${origin}?`, { modal: true, detail }, send);
  if (chosen !== send) {
    declined.add(entry);
    return false;
  }
  await extension.globalState.update(consents, [...new Set([...allowedKeysOf(extension), entry])]);
  return true;
}

/** Asks for each address that the seats of a debug configuration name, before the adapter is started. */
export async function askForSeats(
  context: { readonly extension: ConsentStore; readonly environment: () => Promise<Record<string, string>> },
  configuration: vscode.DebugConfiguration,
): Promise<void> {
  const { keyDecision } = await import('../../engine/shell/keys/keyOrigins.ts');
  for (const seat of ['agent', 'user', 'forkAgent', 'judge']) {
    const url = namedModel(String(configuration[seat] ?? ''))?.address;
    if (!url) continue;
    const environment = { ...process.env, ...(await context.environment()) };
    const use = { name: 'OPENAI_API_KEY', url, namedBy: `"${seat}" of the launch configuration` };
    const decision = keyDecision(use, environment);
    if (decision.type === 'ask') await askForKey(context, decision);
  }
}
