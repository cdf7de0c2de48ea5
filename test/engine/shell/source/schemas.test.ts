import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { jsonSchemas, type SchemaName } from '../../../../src/engine/shell/source/schemas.ts';
import { desk } from '../load/domainFolder.ts';

describe('the schemas of the editor', () => {
  const cases: readonly [SchemaName, string, boolean][] = [
    ['domain', String(desk['domain.yaml']), true],
    ['domain', 'name: desk\nturnCap: many', false],
    ['task', String(desk['tasks/first.task.yaml']), true],
    ['task', '[]', false],
    ['task', 'id: a', false],
    ['persona', String(desk['personas/plain.persona.yaml']), true],
    ['persona', '- { id: a, description: b }\n- { id: c, description: d, style: chatty }', true],
    ['rules', String(desk['rules.yaml']), true],
    ['rules', 'rules: [{ rule: a, check: oneCall }]', true],
    ['rules', '- { rule: a, check: twoCalls }', false],
    ['phrases', 'soon: [soon, shortly]', true],
    ['phrases', 'soon: soon', false],
    ['tool', 'name: a\ndescription: b\nbehaviour: c', true],
    ['tool', 'name: a\ndescription: b', false],
  ];
  it.each(cases)('%s: %s', (name, text, good) => {
    const validate = new Ajv2020({ strict: false }).compile(jsonSchemas()[name]);
    expect(validate(parse(text))).toBe(good);
  });

  it('describe every key of a task', () => {
    expect(JSON.stringify(jsonSchemas().task)).toContain('Id of a persona of this domain.');
  });
});
