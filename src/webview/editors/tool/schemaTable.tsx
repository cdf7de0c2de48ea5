import type { JSX } from 'preact';
import type { ToolContent } from '../../messages/editorMessages.ts';
import { demandsOf, kindOf, resolved, type Schema } from '../../models/schemaForm.ts';

/** The arguments of a tool, to read. */
export function SchemaTable({ content: { tool, undescribed } }: { readonly content: ToolContent }): JSX.Element {
  return (
    <section aria-labelledby="arguments">
      <h2 id="arguments">Arguments</h2>
      {undescribed !== null && <p class="muted">{undescribed}</p>}
      {tool.parameters && <Fields root={tool.parameters} schema={tool.parameters} />}
      {tool.parameters && (
        <details>
          <summary>JSON Schema</summary>
          <pre>{JSON.stringify(tool.parameters, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

function Fields({ root, schema }: { readonly root: Schema; readonly schema: Schema }): JSX.Element {
  const kind = kindOf(root, resolved(root, schema));
  const fields = kind.type === 'object' ? kind.fields : [];
  if (fields.length === 0) return <p class="muted">{kind.type === 'object' ? 'None.' : 'Any value.'}</p>;
  return (
    <ul class="plain-list arguments">
      {fields.map(({ name, schema: own, isRequired }) => {
        const inner = kindOf(root, own);
        const nested = inner.type === 'array' ? inner.items : inner.type === 'object' ? own : null;
        const hasFields = nested !== null && Object.hasOwn(nested, 'properties');
        return (
          <li key={name}>
            <code>{name}</code>{' '}
            <span class="muted">{[typeOf(root, own), isRequired ? 'required' : 'optional'].join(', ')}</span>
            {[own.description, demandsOf(own)].filter(Boolean).map((text) => (
              <p key={String(text)}>{String(text)}</p>
            ))}
            {hasFields && nested && <Fields root={root} schema={nested} />}
          </li>
        );
      })}
    </ul>
  );
}

function typeOf(root: Schema, schema: Schema): string {
  const kind = kindOf(root, schema);
  switch (kind.type) {
    case 'choice':
      return kind.values.map((value) => JSON.stringify(value)).join(' or ');
    case 'variants':
      return kind.variants.map(({ label }) => label).join(' or ');
    case 'array':
      return `list of ${typeOf(root, kind.items)}`;
    case 'json':
      return 'any value';
    default:
      return kind.type;
  }
}
