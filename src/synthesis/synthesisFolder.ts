import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { issueText } from '../engine/core/text/issueText.ts';
import { jsonOf } from '../engine/core/values/json.ts';
import { readBoundedText } from '../engine/shell/files/boundedFile.ts';
import { fromDisk, onDisk, replaceFile, requireWritable } from '../engine/shell/files/disk.ts';
import { Fault } from '../engine/shell/files/fault.ts';
import { difficulties } from './difficulty.ts';
import { outcomes } from './outcome.ts';
import { gradeSchema } from './rubric.ts';
import type { Selected } from './settle.ts';

/** The files of a synthesis other than its recordings; paths in them are relative to its folder, with `/`. */
const files = {
  synthesis: 'synth.json',
  selection: 'selection.jsonl',
  balance: 'balance.txt',
  grades: 'grades.jsonl',
  spotCheck: 'spotcheck.jsonl',
} as const;

/** The schema of `synth.json`: the settings with which a synthesis was started. */
const synthesisSchema = z.strictObject({
  format: z.literal(1),
  domains: z.array(z.strictObject({ name: z.string(), folder: z.string() })).min(1),
  teacher: z.string(),
  count: z.int().min(1),
  nearMisses: z.number().min(0).max(1),
  seed: z.string(),
});
export type SynthesisFile = z.infer<typeof synthesisSchema>;

const candidateFields = {
  recording: z.string(),
  domain: z.string(),
  task: z.string(),
  persona: z.string(),
  difficulty: z.enum(difficulties),
  outcome: z.enum(outcomes),
  miss: z.string().nullable(),
  withheld: z.array(z.int()).readonly(),
};

const selectedSchema = z.strictObject({
  ...candidateFields,
  chosen: z.boolean(),
  accepted: z.boolean(),
  why: z.string(),
  forkOf: z.string().optional(),
});
/** A line of `grades.jsonl`: a grade, or why there is none. */
const gradeLineSchema = z.union([
  z.strictObject({ recording: z.string(), grader: z.string(), grade: gradeSchema }),
  z.strictObject({
    recording: z.string(),
    grader: z.string(),
    error: z.strictObject({ code: z.string(), message: z.string() }),
  }),
]);
export type GradeLine = z.infer<typeof gradeLineSchema>;

const { recording, outcome, miss, withheld } = candidateFields;
const decisionSchema = z.strictObject({
  recording,
  decision: z.enum(['accept', 'reject', 'edit']),
  fork: z.strictObject({ recording, outcome, miss, withheld }).optional(),
  at: z.string(),
});
export type DecisionLine = z.infer<typeof decisionSchema>;

/** The result of reading a folder's `synth.json`; `message` says why the folder does not contain a synthesis. */
type SynthesisRead =
  | { readonly type: 'read'; readonly file: SynthesisFile }
  | { readonly type: 'missing'; readonly message: string }
  | { readonly type: 'damaged'; readonly message: string };

/** Whether a folder with these names has a synthesis. */
export const hasSynthesis = (names: readonly string[]): boolean => names.includes(files.synthesis);

/** Reads the `synth.json` of a folder. Throws a `Fault` where the disk does not give it. */
export function readSynthesis(folder: string): SynthesisRead {
  const path = join(folder, files.synthesis);
  if (!existsSync(path)) return { type: 'missing', message: `${path} is missing` };
  const { data, error } = synthesisSchema.safeParse(jsonOf(fromDisk(path, () => readBoundedText(path))));
  if (data) return { type: 'read', file: data };
  const message = `${path} does not describe a synthesis (${issueText(error, 'the file')})`;
  return { type: 'damaged', message };
}

export function writeSynthesis(folder: string, file: SynthesisFile): void {
  write(folder, files.synthesis, `${JSON.stringify(file, null, 2)}\n`);
}

/** Every rollout of a synthesis and whether it is learned from; a line that is not one is a `Fault` with its place. */
export function readSelection(folder: string): readonly Selected[] {
  return linesOf(join(folder, files.selection), selectedSchema, 'a line of a selection');
}

export function writeSelection(folder: string, lines: readonly Selected[]): void {
  write(folder, files.selection, jsonLines(lines));
}

export function writeBalance(folder: string, text: string): void {
  write(folder, files.balance, text);
}

/** The last word of the grader on each rollout. */
export function readGrades(folder: string): ReadonlyMap<string, GradeLine> {
  const lines = linesOf(join(folder, files.grades), gradeLineSchema, 'a grade');
  return new Map(lines.map((line) => [line.recording, line]));
}

/** Adds a grade; a rollout that is graded again gets another line, and the last one counts. */
export function addGrade(folder: string, line: GradeLine): void {
  const path = join(folder, files.grades);
  requireWritable(path);
  onDisk(path, () => appendFileSync(path, jsonLines([line])));
}

/** Returns what people said in the spot check, in the order in which they said it. */
export function readDecisions(folder: string): readonly DecisionLine[] {
  return linesOf(join(folder, files.spotCheck), decisionSchema, 'a decision of a spot check');
}

/** Adds a decision. The file is replaced as a whole, so that readers never see half of one. */
export function addDecision(folder: string, line: DecisionLine): void {
  write(folder, files.spotCheck, jsonLines([...readDecisions(folder), line]));
}

function write(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  onDisk(path, () => replaceFile(path, text));
}

const jsonLines = (lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/**
 * Returns the lines of a file; empty if it is missing. A last line without a line break was cut off while it was
 * written.
 */
function linesOf<T>(path: string, schema: z.ZodType<T>, what: string): readonly T[] {
  if (!existsSync(path)) return [];
  const whole = fromDisk(path, () => readBoundedText(path))
    .split('\n')
    .slice(0, -1);
  return whole.map((text, index) => {
    const parsed = schema.safeParse(jsonOf(text));
    if (parsed.success) return parsed.data;
    throw new Fault({
      who: 'infrastructure',
      code: 'synth/unreadable',
      message: `${path}:${index + 1}: is not ${what} (${issueText(parsed.error, 'the line')}). Restore the line, or delete it`,
      file: path,
      line: index + 1,
    });
  });
}
