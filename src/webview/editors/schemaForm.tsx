import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Json, type JsonObject, objectOf, type Path } from '../../engine/core/values/json.ts';
import {
  demandsOf,
  emptyValue,
  type FormField,
  type FormKind,
  kindOf,
  type Misfit,
  misfitAt,
  numberFrom,
  resolved,
  type Schema,
  variantFor,
} from '../models/schemaForm.ts';
import { Button } from '../parts/controls.ts';
import { Choice, TextInput } from './fields.tsx';
import { JsonInput } from './jsonInput.tsx';

/** The functions with which a form writes; paths begin at the value. */
export type FormTarget = {
  readonly set: (path: (string | number)[], value: Json) => void;
  readonly remove: (path: (string | number)[]) => void;
};

export type SchemaFormProps = {
  /** JSON Schema of the value: an object. */
  readonly schema: Schema;
  readonly value: JsonObject;
  readonly misfits: readonly Misfit[];
  readonly target: FormTarget;
};

/** A form for the arguments of a tool, made from their JSON Schema. */
export function SchemaForm({ schema, value, misfits, target }: SchemaFormProps): JSX.Element {
  const form = { root: schema, misfits, target };
  const own = resolved(schema, schema);
  const kind = kindOf(schema, own);
  const general = misfitAt(misfits, []);
  return (
    <div class="schema-form">
      {general && (
        <p class="field-problem" role="alert">
          <span aria-hidden="true">✕</span> {general}
        </p>
      )}
      {kind.type === 'object' ? (
        <ObjectFields kind={kind} value={value} path={[]} form={form} />
      ) : (
        <Part name="arguments" schema={own} isRequired value={value} path={[]} form={form} />
      )}
    </div>
  );
}

type Form = { readonly root: Schema; readonly misfits: readonly Misfit[]; readonly target: FormTarget };
type PartProps = FormField & {
  readonly value: Json | undefined;
  readonly path: (string | number)[];
  readonly form: Form;
};

function ObjectFields({
  kind: { fields, others },
  value,
  path,
  form,
}: {
  readonly kind: Extract<FormKind, { type: 'object' }>;
  readonly value: JsonObject;
  readonly path: (string | number)[];
  readonly form: Form;
}): JSX.Element {
  const named = new Set(fields.map(({ name }) => name));
  const rest = Object.keys(value).filter((name) => !named.has(name));
  return (
    <>
      {fields.length === 0 && others === null && rest.length === 0 && (
        <p class="muted">This tool takes no arguments.</p>
      )}
      {fields.map((field) => (
        <Part key={field.name} {...field} value={value[field.name]} path={[...path, field.name]} form={form} />
      ))}
      {rest.map((name) => (
        <Entry
          key={name}
          name={name}
          schema={resolved(form.root, others ?? {})}
          isRequired={false}
          value={value[name]}
          path={[...path, name]}
          form={form}
        />
      ))}
      {others !== null && <AddEntry schema={others} taken={Object.keys(value)} path={path} form={form} />}
    </>
  );
}

/** A part whose name the schema does not specify or does not know. */
function Entry(props: PartProps): JSX.Element {
  const { name, path, form } = props;
  return (
    <div class="with-remove">
      <Part {...props} isRequired />
      <Button label={`Remove ${name}`} onPress={() => form.target.remove(path)}>
        Remove
      </Button>
    </div>
  );
}

function AddEntry({
  schema,
  taken,
  path,
  form,
}: {
  readonly schema: Schema;
  readonly taken: readonly string[];
  readonly path: Path;
  readonly form: Form;
}): JSX.Element {
  const [name, setName] = useState('');
  const isTaken = taken.includes(name);
  const add = (): void => {
    form.target.set([...path, name], emptyValue(form.root, schema));
    setName('');
  };
  return (
    <div class="with-remove">
      <TextInput
        label="Another key"
        value={name}
        isCode
        problem={isTaken ? `${name} already exists` : undefined}
        onCommit={setName}
      />
      <Button disabled={name.trim() === '' || isTaken} onPress={add}>
        Add
      </Button>
    </div>
  );
}

function Part(props: PartProps): JSX.Element {
  const { schema, form } = props;
  const kind = kindOf(form.root, schema);
  switch (kind.type) {
    case 'object':
    case 'array':
      return <Group {...props} kind={kind} />;
    case 'variants':
      return <Variants {...props} kind={kind} />;
    case 'choice':
      return <Values {...props} values={kind.values} />;
    case 'boolean':
      return <Values {...props} values={[true, false]} />;
    case 'text':
    case 'number':
      return <Typed {...props} isNumber={kind.type === 'number'} />;
    case 'json':
      return <AnyValue {...props} />;
    default:
      return kind satisfies never;
  }
}

const labelOf = ({ name, isRequired }: FormField): string => (isRequired ? name : `${name} (optional)`);

function hintOf(schema: Schema): string | undefined {
  const description = typeof schema.description === 'string' ? schema.description : '';
  return [description, demandsOf(schema)].filter((part) => part !== '').join(' · ') || undefined;
}

function common(props: PartProps) {
  const { schema, path, form } = props;
  return { label: labelOf(props), hint: hintOf(schema), problem: misfitAt(form.misfits, path) };
}

/** An empty field is a part that is left out; a text without characters can be written as JSON. */
function Typed(props: PartProps & { readonly isNumber: boolean }): JSX.Element {
  const { value, path, form, isNumber } = props;
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  const commit = (typed: string): void => {
    if (typed === '') form.target.remove(path);
    else form.target.set(path, isNumber ? numberFrom(typed) : typed);
  };
  return <TextInput {...common(props)} value={text} isLong={text.includes('\n')} onCommit={commit} />;
}

function Values(props: PartProps & { readonly values: readonly Json[] }): JSX.Element {
  const { value, values, path, form, isRequired } = props;
  const written = value === undefined ? '' : JSON.stringify(value);
  const options = values.map((each) => ({
    value: JSON.stringify(each),
    label: typeof each === 'string' ? each : JSON.stringify(each),
  }));
  const none = isRequired && value !== undefined ? [] : [{ value: '', label: isRequired ? '(choose)' : '(omitted)' }];
  const commit = (chosen: string): void => {
    if (chosen === '') form.target.remove(path);
    else form.target.set(path, JSON.parse(chosen) as Json);
  };
  return <Choice {...common(props)} value={written} options={[...none, ...options]} onCommit={commit} />;
}

function AnyValue(props: PartProps): JSX.Element {
  const { value, path, form } = props;
  return (
    <JsonInput
      {...common(props)}
      value={value}
      onCommit={(next) => (next === undefined ? form.target.remove(path) : form.target.set(path, next))}
    />
  );
}

function Variants(props: PartProps & { readonly kind: Extract<FormKind, { type: 'variants' }> }): JSX.Element {
  const { kind, value, path, form, isRequired, name, schema } = props;
  const { variants } = kind;
  const at = value === undefined ? null : variantFor(form.root, variants, value);
  const choose = (chosen: string): void => {
    const variant = variants[Number(chosen)];
    if (chosen === '') form.target.remove(path);
    else if (variant) form.target.set(path, emptyValue(form.root, variant.schema));
  };
  const options = variants.map(({ label }, index) => ({ value: String(index), label }));
  const none = isRequired && at !== null ? [] : [{ value: '', label: isRequired ? '(choose)' : '(omitted)' }];
  const chosen = at === null ? undefined : variants[at];
  return (
    <fieldset class="inner">
      <legend class="hidden-text">{name}</legend>
      <Choice
        label={`${labelOf(props)}: variant`}
        hint={hintOf(schema)}
        problem={at === null ? misfitAt(form.misfits, path) : undefined}
        value={at === null ? '' : String(at)}
        options={[...none, ...options]}
        onCommit={choose}
      />
      {chosen && <Part name={name} schema={chosen.schema} isRequired value={value} path={path} form={form} />}
    </fieldset>
  );
}

function Group(props: PartProps & { readonly kind: Extract<FormKind, { type: 'object' | 'array' }> }): JSX.Element {
  const { kind, value, path, form, name, isRequired, schema } = props;
  const problem = misfitAt(form.misfits, path);
  const { set, remove } = form.target;
  const items = Array.isArray(value) ? value : [];
  const item = kind.type === 'array' ? kind.items : null;
  return (
    <fieldset class="card">
      <legend>{labelOf(props)}</legend>
      {hintOf(schema) && <p class="muted hint">{hintOf(schema)}</p>}
      {problem && (
        <p class="field-problem" role="alert">
          <span aria-hidden="true">✕</span> {problem}
        </p>
      )}
      {kind.type === 'object' && value !== undefined && (
        <ObjectFields kind={kind} value={objectOf(value)} path={path} form={form} />
      )}
      {item &&
        items.map((each, index) => (
          <div class="with-remove" key={index}>
            <Part
              name={`${name} ${index + 1}`}
              schema={item}
              isRequired
              value={each}
              path={[...path, index]}
              form={form}
            />
            <Button label={`Remove ${name} ${index + 1}`} onPress={() => remove([...path, index])}>
              Remove
            </Button>
          </div>
        ))}
      <div class="actions">
        {item && (
          <Button
            label={`Add item to ${name}`}
            onPress={() => set(value === undefined ? path : [...path, items.length], begun(value, form.root, item))}
          >
            Add Item
          </Button>
        )}
        {kind.type === 'object' && value === undefined && (
          <Button label={`Fill in ${name}`} onPress={() => set(path, emptyValue(form.root, schema))}>
            Fill In
          </Button>
        )}
        {value !== undefined && !isRequired && (
          <Button label={`Omit ${name}`} onPress={() => remove(path)}>
            Omit
          </Button>
        )}
      </div>
    </fieldset>
  );
}

function begun(list: Json | undefined, root: Schema, item: Schema): Json {
  const first = emptyValue(root, item);
  return list === undefined ? [first] : first;
}
