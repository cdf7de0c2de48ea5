import type { JSX } from 'preact';
import { type Json, objectOf } from '../../../engine/core/values/json.ts';
import type { ValuePath } from '../../messages/editorMessages.ts';
import type { Schema } from '../../models/schemaForm.ts';
import { Button } from '../../parts/controls.ts';
import { Choice, LinesInput, Switch, TextInput } from '../fields.tsx';
import type { Edit } from '../frame.tsx';
import { JsonInput } from '../jsonInput.tsx';

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const;
const typeOptions = types.map((type) => ({ value: type, label: type }));

const namesIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

/** The arguments of a simulated tool, as a form of their JSON Schema. What the form has no field for stays as it is. */
export function SchemaEditor({ parameters, edit }: { readonly parameters: Schema; readonly edit: Edit }): JSX.Element {
  return (
    <section aria-labelledby="arguments">
      <h2 id="arguments">Arguments</h2>
      <Properties schema={parameters} path={['parameters']} edit={edit} />
      <details>
        <summary>JSON Schema</summary>
        <JsonInput
          label="Schema of the arguments"
          value={parameters}
          onCommit={(value) => value !== undefined && edit.set(['parameters'], value)}
        />
      </details>
    </section>
  );
}

type Props = { readonly schema: Schema; readonly path: ValuePath; readonly edit: Edit };

function Properties({ schema, path, edit }: Props): JSX.Element {
  const properties = objectOf(schema.properties);
  const required = namesIn(schema.required);
  const names = Object.keys(properties);
  const add = (): void => {
    let name = 'argument';
    for (let number = 2; names.includes(name); number++) name = `argument_${number}`;
    edit.set([...path, 'properties', name], { type: 'string', description: '' });
  };
  const require = (name: string, isRequired: boolean): void => {
    const next = isRequired ? [...required, name] : required.filter((each) => each !== name);
    edit.set([...path, 'required'], next);
  };
  const rename = (from: string, to: string): void => {
    if (to.trim() === '' || names.includes(to)) return;
    const renamed = Object.entries(properties).map(([name, own]) => [name === from ? to : name, own]);
    const { properties: _, required: __, ...rest } = schema;
    const list = required.map((name) => (name === from ? to : name));
    edit.set(path, {
      ...rest,
      properties: Object.fromEntries(renamed),
      ...(schema.required ? { required: list } : {}),
    });
  };
  const remove = (name: string): void => {
    const { [name]: _, ...others } = properties;
    const list = required.filter((each) => each !== name);
    edit.set(path, { ...schema, properties: others, ...(schema.required ? { required: list } : {}) });
  };
  return (
    <>
      {names.length === 0 && <p class="muted">None yet.</p>}
      {names.map((name) => (
        <fieldset class="card" key={name}>
          <legend>{name}</legend>
          <TextInput label="Name" value={name} isCode onCommit={(to) => rename(name, to)} />
          <Property schema={objectOf(properties[name])} path={[...path, 'properties', name]} edit={edit} />
          <Switch label="Required" value={required.includes(name)} onCommit={(value) => require(name, value)} />
          <div class="actions">
            <Button label={`Remove argument ${name}`} onPress={() => remove(name)}>
              Remove
            </Button>
          </div>
        </fieldset>
      ))}
      <div class="actions">
        <Button onPress={add}>Add Argument</Button>
      </div>
    </>
  );
}

function Property({ schema, path, edit }: Props): JSX.Element {
  const type = typeof schema.type === 'string' ? schema.type : '';
  const description = typeof schema.description === 'string' ? schema.description : '';
  const values = Array.isArray(schema.enum) ? schema.enum : null;
  const isPlain = values === null || values.every((value) => typeof value === 'string');
  const choose = (chosen: string): void => {
    const about = schema.description === undefined ? {} : { description: schema.description };
    const inner = chosen === 'array' ? { items: { type: 'string' } } : chosen === 'object' ? { properties: {} } : {};
    edit.set(path, { type: chosen, ...about, ...inner });
  };
  const setValues = (lines: string[]): void => {
    if (lines.length > 0) edit.set([...path, 'enum'], lines);
    else if (values) edit.remove([...path, 'enum']);
  };
  return (
    <>
      <Choice label="Type" value={type} options={typeOptions} onCommit={choose} />
      <TextInput
        label="Description"
        value={description}
        isLong
        onCommit={(value) => edit.set([...path, 'description'], value)}
      />
      {type === 'string' && isPlain && (
        <LinesInput
          label="Allowed values"
          value={values ?? []}
          hint="One per line. Leave empty to allow every text."
          onCommit={setValues}
        />
      )}
      {type === 'array' && (
        <fieldset class="inner">
          <legend class="hidden-text">Items</legend>
          <Property schema={objectOf(schema.items)} path={[...path, 'items']} edit={edit} />
        </fieldset>
      )}
      {type === 'object' && <Properties schema={schema} path={path} edit={edit} />}
    </>
  );
}
