import { sourceOf } from '../../engine/core/domain/sources/sources.ts';
import { outsideSource, runsInWorker, type Tool } from '../../engine/core/domain/tool.ts';
import { atOnce, type Steps } from '../../engine/shell/checks/crossCheck.ts';
import { completeDomainInSteps } from '../../engine/shell/domain/completeDomain.ts';
import { checkFiles, checkFilesInSteps, readFiles } from '../../engine/shell/domain/loadDomain.ts';
import { fileLimits, readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import type { Diagnostic } from '../../engine/shell/files/diagnostic.ts';
import { readTasksAhead } from '../../engine/shell/load/domainFiles.ts';
import { hasExternalTools, type LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { type AnswerTo, answer, type Question, type QuestionOf, type QuestionType } from '../answer.ts';
import { fixedTexts, type Texts } from '../fixAll.ts';
import type { LanguageDomain } from '../symbols/languageDomain.ts';
import type { TextEdit } from '../symbols/textEdit.ts';
import { codeStamp } from './codeStamp.ts';
import { type DomainOutline, domainRow, type Grouping, type TaskRow } from './domainRow.ts';

type Described = { readonly stamp: string; readonly tools: readonly Tool[] };

/**
 * One domain with the unsaved texts of its files. Reads again what has changed when it is next asked, and runs nothing of
 * the domain.
 */
export class OpenDomain {
  readonly #folder: string;
  readonly #texts = new Map<string, string>();
  #described: Described | null = null;
  #read: LoadedDomain | null = null;
  /** As it was when its domain.yaml could last be used. */
  #usable: LoadedDomain | null = null;
  #asked: LanguageDomain | null = null;
  /** The tasks of the row that the Test Explorer last requested. */
  #taskRows: readonly TaskRow[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes an unsaved text; null where the file on the disk counts again. */
  setText(file: string, text: string | null): void {
    if (text === null) this.#texts.delete(file);
    else this.#texts.set(file, text);
    this.touch();
  }

  /** Makes changes in an unsaved text. Returns false if the text is not known and must be sent as a whole. */
  change(file: string, changes: readonly TextEdit[]): boolean {
    let text = this.#texts.get(file);
    if (text === undefined) return false;
    for (const { offset, length, text: own } of changes)
      text = text.slice(0, offset) + own + text.slice(offset + length);
    this.setText(file, text);
    return true;
  }

  /** Something on the disk has changed. */
  touch(): void {
    this.#read = null;
    this.#asked = null;
  }

  /**
   * Takes the tools that running the code of a stamp described.
   * @param isWhole whether servers were asked too; otherwise the tools of servers that are known already stay
   */
  describe(stamp: string, tools: readonly Tool[], isWhole: boolean): void {
    const names = new Set(tools.map(({ name }) => name));
    const isFar = (tool: Tool) => outsideSource(tool) !== null && !names.has(tool.name);
    const kept = isWhole ? [] : (this.#described?.tools ?? []).filter(isFar);
    this.#described = { stamp, tools: [...tools, ...kept] };
    this.#asked = null;
  }

  /**
   * Returns what tells one state of the domain's code from another; null where it has none, was described in this
   * state, or has unsaved texts, which the description does not include.
   */
  undescribed(): string | null {
    const loaded = this.#loaded();
    if (loaded.toolsFile === null && loaded.pythonFile === null) return null;
    if (loaded.parts.scan.sources.some(({ file }) => this.#texts.has(file))) return null;
    const stamp = codeStamp(loaded);
    return this.#described?.stamp === stamp ? null : stamp;
  }

  /** Answers a question about the texts as they are now. */
  answer<Type extends QuestionType>(question: QuestionOf<Type>): AnswerTo<Type> {
    return answer(this.#domain(), question as Question) as AnswerTo<Type>;
  }

  /** Whether its files have been read as they are now. */
  get isRead(): boolean {
    return this.#read !== null;
  }

  /**
   * Everything that is found without running anything; arguments too, where the tools are described as they are now. The
   * steps take at most a few milliseconds each, except those that put the parts of thousands of tasks together.
   */
  *findingsInSteps(): Steps<readonly Diagnostic[]> {
    if (!this.#read) for (const _ of readTasksAhead(this.#folder, this.#texts)) yield;
    return yield* this.#findingsOf(this.#loaded());
  }

  /** The domain as the Test Explorer shows it, as its files are now: it may be asked before their change arrives. */
  row(grouping: Grouping): DomainOutline {
    this.touch();
    const { groups, ...row } = domainRow(checkFiles(this.#loaded(), { soundness: false }), grouping);
    this.#taskRows = groups.flatMap(({ tasks }) => tasks);
    return { ...row, groups: groups.map(({ name, tasks }) => ({ name, count: tasks.length })) };
  }

  /** Returns some of the tasks of the last requested row, in the order of its groups. */
  taskRows(from: number, to: number): readonly TaskRow[] {
    return this.#taskRows.slice(from, to);
  }

  /** The texts after all fixes, of one file or of the whole domain. */
  fixed(only?: string): Texts {
    const look = (texts: Texts) =>
      atOnce(this.#findingsOf(readFiles(this.#folder, { overlay: new Map([...this.#texts, ...texts]) })));
    return fixedTexts(
      look,
      (file) =>
        this.#texts.get(file)?.replace(/\r\n?/g, '\n') ??
        readBoundedText(file, fileLimits.data).replace(/\r\n?/g, '\n'),
      only,
    );
  }

  *#findingsOf(loaded: LoadedDomain): Steps<readonly Diagnostic[]> {
    const { tools, stamp } = this.#described ?? {};
    if (!tools || stamp !== codeStamp(loaded)) return (yield* checkFilesInSteps(loaded)).diagnostics;
    const code = tools.filter(runsInWorker);
    const external = tools.filter((tool) => !runsInWorker(tool) && !sourceOf(tool).simulation);
    const isFar = external.some((tool) => outsideSource(tool) !== null);
    const isComplete = isFar || !hasExternalTools({ ...loaded, pythonFile: null });
    return (yield* completeDomainInSteps(loaded, code, isComplete ? external : null)).diagnostics;
  }

  #loaded(): LoadedDomain {
    this.#read ??= readFiles(this.#folder, { overlay: this.#texts });
    return this.#read;
  }

  /** While domain.yaml can't be used, the rest of the domain is as it was: one wrong key does not empty every list. */
  #domain(): LanguageDomain {
    if (this.#asked) return this.#asked;
    const loaded = this.#loaded();
    const isUsable = loaded.parts.namesFiles;
    if (isUsable) this.#usable = loaded;
    const usable = this.#usable ?? loaded;
    const texts = new Map([...usable.parts.texts, ...loaded.parts.texts]);
    const described = new Map((this.#described?.tools ?? []).map((tool) => [tool.name, tool]));
    this.#asked = { loaded: isUsable ? loaded : { ...usable, parts: { ...usable.parts, texts } }, described };
    return this.#asked;
  }
}
