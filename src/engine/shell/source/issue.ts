import type * as z from 'zod';
import type { Diagnostic, Fix, Location } from '../files/diagnostic.ts';
import { fixOf, quoted, respelt, yamlScalar } from './edit.ts';
import { nearest } from './nearest.ts';
import { type Choice, descriptionAt, formWith, keysAt, type SchemaName, takesAnyKey } from './schemas.ts';
import type { FileKind } from './source.ts';
import type { Places } from './yaml.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];
type Finding = {
  readonly code: string;
  readonly at: Location;
  readonly message: string;
  readonly hint: string;
  readonly fix?: Fix | undefined;
  /** The path of the key that is missing, or that another key was probably meant to be. */
  readonly meant?: Path | undefined;
};

/** The context in which the findings of one value of a file are reported. */
export type IssueContext = {
  readonly kind: FileKind;
  readonly schema: SchemaName;
  readonly places: Places;
  /** Path of the value in the file, for an element of a list. */
  readonly prefix: Path;
  /** Forms that values were meant to have. */
  readonly choices?: readonly Choice[];
};

/** Returns what a value does not have of its schema, one finding for each key concerned. */
export function describeIssues(issues: readonly Issue[], context: IssueContext): readonly Diagnostic[] {
  const found = issues.flatMap((issue) => findings(issue, [...context.prefix, ...issue.path], context));
  const misspelt = new Set(
    found.flatMap(({ code, meant }) => (code === 'unknown-key' && meant ? [String(meant)] : [])),
  );
  return found
    .filter(({ code, meant }) => code !== 'missing-key' || !misspelt.has(String(meant)))
    .map(({ code, at, message, hint, fix }) => ({
      ...at,
      code: `${context.kind}/${code}`,
      severity: 'error',
      message,
      hint,
      ...(fix ? { fix } : {}),
    }));
}

function findings(issue: Issue, path: Path, context: IssueContext): readonly Finding[] {
  switch (issue.code) {
    case 'unrecognized_keys': {
      // Zod reports the keys of the only form that a map can have, and not which one that is.
      const form = formWith(context.schema, path, Object.keys(issue.input ?? {}), issue.keys);
      const choices = [...(context.choices ?? []), ...(form === undefined ? [] : [{ path, form }])];
      const allowed = keysAt(context.schema, path, choices);
      const empty = allowed
        .filter((key) => (issue.input as Readonly<Record<string, unknown>> | undefined)?.[key] === null)
        .map((key) => ({
          key,
          below: keysAt(context.schema, [...path, key], choices),
          takesAny: takesAnyKey(context.schema, [...path, key], choices),
        }));
      return issue.keys.map((key) => unknownKey(key, path, allowed, empty, context));
    }
    case 'invalid_type':
      return [
        issue.input === undefined
          ? missingKey(path, context)
          : wrongType(issue.input, [expectations(issue)], path, context),
      ];
    case 'invalid_union':
      return union(issue, path, context);
    case 'invalid_value':
      return issue.input === undefined
        ? [missingKey(path, context)]
        : [
            wrongValue(
              issue.input,
              `one of ${issue.values.map(String).join(', ')}`,
              issue.values.map(String),
              path,
              context,
            ),
          ];
    case 'too_small':
    case 'too_big':
      return [wrongSize(issue, path, context)];
    default: {
      const { hint, values } = (issue.code === 'custom' ? issue.params : undefined) ?? {};
      const known = typeof values === 'function' ? (values() as readonly string[]) : [];
      const found = wrongValue(issue.input, issue.message, known, path, context);
      // The message of a pattern says what is expected; the description of the key would repeat or blur it.
      if (issue.code === 'invalid_format') return [{ ...found, hint: formatHint(issue.input, issue.pattern) }];
      return [typeof hint === 'string' ? { ...found, hint } : found];
    }
  }
}

/**
 * @param empty keys beside it that have no value, with the keys that each can have: what is not indented below one of them
 *   is read as its neighbour
 */
function unknownKey(
  key: string,
  path: Path,
  allowed: readonly string[],
  empty: readonly { readonly key: string; readonly below: readonly string[]; readonly takesAny: boolean }[],
  { places }: IssueContext,
): Finding {
  const meant = nearest(key, allowed);
  const owner = (empty.find(({ below }) => below.includes(key)) ?? empty.find(({ takesAny }) => takesAny))?.key;
  const hint =
    meant !== undefined
      ? `Did you mean "${meant}"?`
      : owner !== undefined
        ? `It is a key of ${owner}, which is empty: indent it below ${owner}.`
        : `Known here: ${allowed.join(', ')}.`;
  const at = places.key([...path, key]);
  const fix = respelt(at, key, allowed);
  const message = `The key ${key} is not known here.`;
  return { code: 'unknown-key', at, message, hint, fix, meant: meant === undefined ? undefined : [...path, meant] };
}

function missingKey(path: Path, { places, schema, choices }: IssueContext): Finding {
  const name = String(path.at(-1) ?? 'value');
  const what = descriptionAt(schema, path, choices);
  const hint =
    what === undefined
      ? `Write ${name}: and its value.`
      : `Write ${name}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  const at = firstLine(places.value(path.slice(0, -1)));
  return { code: 'missing-key', at, message: `${name} is missing.`, hint, meant: path };
}

function wrongType(
  input: unknown,
  expected: readonly string[],
  path: Path,
  { places, schema, choices }: IssueContext,
): Finding {
  const wanted = [...new Set(expected)].join(' or ');
  const at = input === null ? places.key(path) : firstLine(places.value(path));
  const message = `${nameOf(path)} is ${shown(input)}, but ${wanted} is expected.`;
  const fix = typeFix(input, expected, places.value(path));
  // The description says what the entries are, and not that they form a list.
  const hint = (wanted === 'a list' ? undefined : descriptionAt(schema, path, choices)) ?? example(wanted);
  return { code: 'wrong-type', at, message, hint, fix };
}

/** A number or a truth value where a text is expected, or the other way round: only the quotes are wrong. */
function typeFix(input: unknown, expected: readonly string[], at: Location): Fix | undefined {
  if (expected.includes('a text') && (typeof input === 'number' || typeof input === 'boolean')) return quoted(at);
  if (typeof input !== 'string' || at.endColumn - at.column !== input.length + 2 || at.line !== at.endLine)
    return undefined;
  const isNumber = expected.some((each) => each.endsWith('number')) && /^-?\d+(?:\.\d+)?$/.test(input);
  const isTruth = expected.includes('true or false') && /^(?:true|false)$/.test(input);
  return isNumber || isTruth ? fixOf(`Write ${input} without quotes`, { ...at, text: input }) : undefined;
}

/** Returns what to write in place of a text that does not match a pattern: an id with dashes, if that matches it. */
function formatHint(input: unknown, pattern: unknown): string {
  const words = typeof input === 'string' ? (input.normalize('NFKD').match(/[A-Za-z0-9]+/g) ?? []) : [];
  const expression = /^\/(.*)\/([a-z]*)$/s.exec(String(pattern ?? ''));
  if (!expression) return 'Change it.';
  const matches = new RegExp(expression[1] ?? '', expression[2]);
  const id = [words.join('-'), words.join('-').toLowerCase()].find((each) => each !== '' && matches.test(each));
  return id === undefined ? 'Change it.' : `Write for example ${id}.`;
}

function wrongValue(
  input: unknown,
  wanted: string,
  values: readonly string[],
  path: Path,
  context: IssueContext,
): Finding {
  const meant = typeof input === 'string' ? nearest(input, values) : undefined;
  const hint =
    meant === undefined
      ? (descriptionAt(context.schema, path, context.choices) ?? 'Change it.')
      : `Did you mean "${meant}"?`;
  const message = `${nameOf(path)} is ${shown(input)}, but ${wanted} is expected.`;
  const isSentence = values.length === 0;
  return {
    code: 'wrong-value',
    at: firstLine(context.places.value(path)),
    fix: typeof input === 'string' ? respelt(context.places.value(path), input, values) : undefined,
    message: isSentence ? `${nameOf(path)} is ${shown(input)}: ${wanted}.` : message,
    hint,
  };
}

function wrongSize(
  issue: Issue & { code: 'too_small' | 'too_big' },
  path: Path,
  { places, schema, choices }: IssueContext,
): Finding {
  const bounds = issue.inclusive === false ? ['more than', 'less than'] : ['at least', 'at most'];
  const bound = issue.code === 'too_small' ? `${bounds[0]} ${issue.minimum}` : `${bounds[1]} ${issue.maximum}`;
  const unit = issue.origin === 'array' ? ' entries' : issue.origin === 'string' ? ' characters' : '';
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const counted = unit === ' entries' && Number(limit) === 1 ? ' entry' : unit;
  const message = `${nameOf(path)} is ${shown(issue.input)}, but ${bound}${counted} is expected.`;
  return {
    code: 'wrong-value',
    at: firstLine(places.value(path)),
    message,
    hint: descriptionAt(schema, path, choices) ?? 'Change it.',
  };
}

/** Of the forms that a value may have, the faults of the one that it was meant to be. */
function union(issue: Issue & { code: 'invalid_union' }, path: Path, context: IssueContext): readonly Finding[] {
  if (issue.discriminator !== undefined) return [wrongDiscriminator(issue, path, context)];
  const forms = issue.errors.map((errors, form) => ({
    errors,
    form,
    isOtherType: errors.some((each) => each.path.length === 0 && each.code === 'invalid_type'),
    // A key such as `type` says which form is meant, however many other keys are wrong.
    isOtherKind: errors.some((each) => each.path.length === 1 && each.code === 'invalid_value'),
  }));
  const meant = forms
    .filter(({ isOtherType }) => !isOtherType)
    .toSorted((a, b) => Number(a.isOtherKind) - Number(b.isOtherKind) || a.errors.length - b.errors.length)[0];
  const [only] = meant?.errors ?? [];
  if (
    only?.code === 'invalid_value' &&
    meant?.errors.length === 1 &&
    takesList(issue) &&
    typeof issue.input === 'string'
  )
    return [listedValue(issue.input, only.values.map(String), path, context)];
  if (meant) {
    const choices = [...(context.choices ?? []), { path, form: meant.form }];
    return meant.errors.flatMap((each) => findings(each, [...path, ...each.path], { ...context, choices }));
  }
  const expected = issue.errors.flat().flatMap((each) => (each.code === 'invalid_type' ? [expectations(each)] : []));
  return [issue.input === undefined ? missingKey(path, context) : wrongType(issue.input, expected, path, context)];
}

const takesList = (issue: Issue & { code: 'invalid_union' }) =>
  issue.errors.some((errors) =>
    errors.some(({ path, ...each }) => path.length === 0 && each.code === 'invalid_type' && each.expected === 'array'),
  );

/** A text in place of a list of texts, or of one of a few words. */
function listedValue(input: string, values: readonly string[], path: Path, context: IssueContext): Finding {
  const found = wrongValue(input, `a list, or one of ${values.join(', ')}`, values, path, context);
  if (found.fix) return found;
  const at = context.places.value(path);
  const text = `[${yamlScalar(input)}]`;
  const fix = at.line === at.endLine ? fixOf(`Write ${text}`, { ...at, text }) : undefined;
  return { ...found, hint: `Write ${text}.`, fix };
}

function wrongDiscriminator(issue: Issue & { code: 'invalid_union' }, path: Path, context: IssueContext): Finding {
  const name = issue.discriminator ?? '';
  const value = (issue.input as Record<string, unknown> | undefined)?.[name];
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
  if (value !== undefined) return wrongValue(value, `one of ${options.join(', ')}`, options, path, context);
  return { ...missingKey(path, context), hint: `Write ${name}: and one of ${options.join(', ')}.` };
}

function expectations(issue: Issue & { code: 'invalid_type' }): string {
  switch (issue.expected) {
    case 'string':
      return 'a text';
    case 'number':
      return 'a number';
    case 'int':
      return 'a whole number';
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'object':
    case 'record':
      return 'a map of keys and values';
    default:
      return issue.expected;
  }
}

function example(wanted: string): string {
  if (wanted === 'a list') return 'Write its entries on lines that begin with "- ".';
  if (wanted === 'a text') return 'Put it in quotes if it is a text that looks like something else.';
  return 'Change it.';
}

function shown(input: unknown): string {
  if (input === null || input === '') return 'empty';
  if (Array.isArray(input)) return input.length === 0 ? 'an empty list' : 'a list';
  if (typeof input === 'object') return 'a map';
  if (typeof input === 'number' && !Number.isFinite(input)) return Number.isNaN(input) ? 'no number' : 'infinite';
  const text = JSON.stringify(input) ?? 'missing';
  return text.length > 60 ? `${text.slice(0, 57)}..."` : text;
}

/** The key in its surroundings: `user.goal`, `actions[0].tool`; the number of the element in a list of a file is left out. */
function nameOf(path: Path): string {
  const own = typeof path[0] === 'number' ? path.slice(1) : path;
  const name = own.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  );
  return name === '' ? 'This' : name;
}

const firstLine = (at: Location): Location =>
  at.endLine === at.line ? at : { ...at, endLine: at.line, endColumn: at.column + 1 };
