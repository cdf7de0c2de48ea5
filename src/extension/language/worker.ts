/**
 * The worker thread in which the texts of domains are read, checked and asked about, so that the extension host never
 * waits for it. It runs nothing of a domain.
 */
import { parentPort } from 'node:worker_threads';
import type { Steps } from '../../engine/shell/checks/crossCheck.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import { mostImportant } from './mostImportant.ts';
import { OpenDomain } from './openDomain.ts';

const domains = new Map<string, OpenDomain>();
/** Domains whose diagnostics must be computed again. */
const stale = new Set<string>();
/** Domains that the user works on: tools are described only for those. */
const asked = new Set<string>();
/** The state of each domain's code that was last told to be undescribed: what is typed elsewhere does not tell it again. */
const told = new Map<string, string>();
let waiting: ToWorker[] = [];
let isAwake = false;
/** The domain whose diagnostics are being computed. Reading and checking thousands of tasks takes seconds. */
let looking: { readonly folder: string; readonly steps: Steps<readonly Diagnostic[]> } | null = null;
/** The time that diagnostics are computed before messages that have arrived are answered, in milliseconds. */
const turnMs = 200;

const tell = (message: FromWorker) => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToWorker) => {
  if (message.type === 'cancel') waiting = waiting.filter((each) => !('id' in each) || each.id !== message.id);
  else waiting.push(message);
  wake();
});

/** Works when every message that has arrived is known, so that what was taken back is not done. */
function wake(): void {
  if (isAwake) return;
  isAwake = true;
  setImmediate(() => {
    isAwake = false;
    const next = takeNext();
    try {
      if (next) perform(next);
      else look();
    } catch (error) {
      // One domain that can't be read, such as one that is being deleted, must not cost the others their answers.
      const message = error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error);
      tell({ type: 'failed', id: next && 'id' in next ? next.id : null, message });
    }
    if (waiting.length > 0 || stale.size > 0) wake();
  });
}

/**
 * Returns the next message. Messages about a domain whose files are being read wait: an answer would read them at once.
 */
function takeNext(): ToWorker | undefined {
  if (!looking || domains.get(looking.folder)?.isRead) return waiting.shift();
  const { folder } = looking;
  const at = waiting.findIndex((message) => message.type === 'cancel' || message.folder !== folder);
  return at < 0 ? undefined : waiting.splice(at, 1)[0];
}

function perform(message: ToWorker): void {
  if (message.type === 'cancel') return;
  const { folder } = message;
  const isQuestion = 'id' in message;
  if (!isQuestion && looking?.folder === folder) looking = null;
  if (message.type === 'forget') {
    domains.delete(folder);
    stale.delete(folder);
    told.delete(folder);
    return;
  }
  const domain = domains.get(folder) ?? new OpenDomain(folder);
  domains.set(folder, domain);
  switch (message.type) {
    case 'text':
      domain.setText(message.file, message.text);
      stale.add(folder);
      return;
    case 'change':
      if (domain.change(message.file, message.changes)) stale.add(folder);
      else tell({ type: 'unknown', folder, file: message.file });
      return;
    case 'touch':
      domain.touch();
      // The workspace may be trusted only since the last time.
      told.delete(folder);
      stale.add(folder);
      return;
    case 'described':
      // Tools of earlier code take the place of newer ones; the newer ones are then asked for again.
      if (told.get(folder) !== message.stamp) told.delete(folder);
      domain.describe(message.stamp, message.tools, message.isWhole);
      stale.add(folder);
      return;
    case 'ask':
      tell({ type: 'answer', id: message.id, value: domain.answer(message.question) });
      if (!asked.has(folder)) {
        asked.add(folder);
        tellUndescribed(folder, domain);
      }
      return;
    case 'row':
      tell({ type: 'answer', id: message.id, value: domain.row(message.grouping) });
      return;
    case 'taskRows':
      tell({ type: 'answer', id: message.id, value: domain.taskRows(message.from, message.to) });
      return;
    case 'mend':
      tell({ type: 'answer', id: message.id, value: [...domain.mended(message.file ?? undefined)] });
      return;
    default:
      message satisfies never;
  }
}

/** Looks for the findings of one domain for some time; what people do meanwhile comes before the rest. */
function look(): void {
  const [folder] = stale;
  if (folder === undefined) return;
  const domain = domains.get(folder);
  if (!domain) return void stale.delete(folder);
  if (looking?.folder !== folder) looking = { folder, steps: domain.findingsInSteps() };
  const found = findingsSoFar(folder, looking.steps);
  if (!found) return;
  tell({ type: 'found', folder, diagnostics: mostImportant(found, folder) });
  if (asked.has(folder)) tellUndescribed(folder, domain);
}

/** The findings of a domain; null where there is more to look for. */
function findingsSoFar(folder: string, steps: Steps<readonly Diagnostic[]>): readonly Diagnostic[] | null {
  let isOver = true;
  try {
    for (const end = performance.now() + turnMs; performance.now() < end; ) {
      const { done, value } = steps.next();
      if (done) return value;
    }
    isOver = false;
    return null;
  } finally {
    if (isOver) {
      looking = null;
      stale.delete(folder);
    }
  }
}

function tellUndescribed(folder: string, domain: OpenDomain): void {
  const stamp = domain.undescribed();
  if (stamp === null || told.get(folder) === stamp) return;
  told.set(folder, stamp);
  tell({ type: 'undescribed', folder, stamp });
}
