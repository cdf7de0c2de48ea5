import type { Steps } from '../../engine/shell/checks/crossCheck.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { FromService, ToService } from './messages.ts';
import { mostImportant } from './mostImportant.ts';
import { OpenDomain } from './openDomain.ts';

/** The domain whose findings are being computed. Reading and checking thousands of tasks takes seconds. */
type Looking = { readonly folder: string; readonly steps: Steps<readonly Diagnostic[]> };

/** The time that findings are computed before messages that have arrived are answered, in milliseconds. */
const turnMs = 200;

/**
 * Reads and checks the texts of domains, and answers questions about them. It runs nothing of a domain. Messages are
 * answered in turns, and the findings of a domain are computed in between.
 */
export class LanguageService {
  readonly #tell: (message: FromService) => void;
  readonly #domains = new Map<string, OpenDomain>();
  /** Domains whose findings are out of date. */
  readonly #stale = new Set<string>();
  /** Domains with at least one question: the tools of the others need no description. */
  readonly #asked = new Set<string>();
  /** The last state of each domain's code that was reported as undescribed. */
  readonly #reported = new Map<string, string>();
  #waiting: ToService[] = [];
  #isAwake = false;
  #looking: Looking | null = null;

  /** @param tell receives answers and findings */
  constructor(tell: (message: FromService) => void) {
    this.#tell = tell;
  }

  /** Takes a message. Its answer comes later, by `tell`. */
  receive(message: ToService): void {
    if (message.type === 'cancel')
      this.#waiting = this.#waiting.filter((each) => !('id' in each) || each.id !== message.id);
    else this.#waiting.push(message);
    this.#wake();
  }

  /** Performs the next message or computes findings, after all messages that have arrived, so cancelled ones are skipped. */
  #wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    setImmediate(() => {
      this.#isAwake = false;
      const next = this.#takeNext();
      try {
        if (next) this.#perform(next);
        else this.#look();
      } catch (error) {
        // A domain that cannot be read, such as one that is being deleted, must not affect the others.
        const message = error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error);
        this.#tell({ type: 'failed', id: next && 'id' in next ? next.id : null, message });
      }
      if (this.#waiting.length > 0 || this.#stale.size > 0) this.#wake();
    });
  }

  /** Returns the next message. A message about a domain that is being read waits, because its answer would read it at once. */
  #takeNext(): ToService | undefined {
    if (!this.#looking || this.#domains.get(this.#looking.folder)?.isRead) return this.#waiting.shift();
    const { folder } = this.#looking;
    const at = this.#waiting.findIndex((message) => message.type === 'cancel' || message.folder !== folder);
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0];
  }

  #perform(message: ToService): void {
    if (message.type === 'cancel') return;
    const { folder } = message;
    const isQuestion = 'id' in message;
    if (!isQuestion && this.#looking?.folder === folder) this.#looking = null;
    if (message.type === 'forget') {
      this.#domains.delete(folder);
      this.#stale.delete(folder);
      this.#reported.delete(folder);
      return;
    }
    const domain = this.#domains.get(folder) ?? new OpenDomain(folder);
    this.#domains.set(folder, domain);
    switch (message.type) {
      case 'text':
        domain.setText(message.file, message.text);
        this.#stale.add(folder);
        return;
      case 'change':
        if (domain.change(message.file, message.changes)) this.#stale.add(folder);
        else this.#tell({ type: 'unknown', folder, file: message.file });
        return;
      case 'touch':
        domain.touch();
        // The workspace may have become trusted.
        this.#reported.delete(folder);
        this.#stale.add(folder);
        return;
      case 'described':
        // Tools of earlier code take the place of newer ones; the newer ones are then requested again.
        if (this.#reported.get(folder) !== message.stamp) this.#reported.delete(folder);
        domain.describe(message.stamp, message.tools, message.isWhole);
        this.#stale.add(folder);
        return;
      case 'ask':
        this.#tell({ type: 'answer', id: message.id, value: domain.answer(message.question) });
        if (!this.#asked.has(folder)) {
          this.#asked.add(folder);
          this.#tellUndescribed(folder, domain);
        }
        return;
      case 'row':
        this.#tell({ type: 'answer', id: message.id, value: domain.row(message.grouping) });
        return;
      case 'taskRows':
        this.#tell({ type: 'answer', id: message.id, value: domain.taskRows(message.from, message.to) });
        return;
      case 'fixAll':
        this.#tell({ type: 'answer', id: message.id, value: [...domain.fixed(message.file ?? undefined)] });
        return;
      default:
        message satisfies never;
    }
  }

  /** Computes the findings of one domain for one turn. */
  #look(): void {
    const [folder] = this.#stale;
    if (folder === undefined) return;
    const domain = this.#domains.get(folder);
    if (!domain) return void this.#stale.delete(folder);
    if (this.#looking?.folder !== folder) this.#looking = { folder, steps: domain.findingsInSteps() };
    const found = this.#findingsSoFar(folder, this.#looking.steps);
    if (!found) return;
    this.#tell({ type: 'found', folder, diagnostics: mostImportant(found, folder) });
    if (this.#asked.has(folder)) this.#tellUndescribed(folder, domain);
  }

  /** Returns the findings of a domain, or null if more turns are needed. */
  #findingsSoFar(folder: string, steps: Steps<readonly Diagnostic[]>): readonly Diagnostic[] | null {
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
        this.#looking = null;
        this.#stale.delete(folder);
      }
    }
  }

  #tellUndescribed(folder: string, domain: OpenDomain): void {
    const stamp = domain.undescribed();
    if (stamp === null || this.#reported.get(folder) === stamp) return;
    this.#reported.set(folder, stamp);
    this.#tell({ type: 'undescribed', folder, stamp });
  }
}
