import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFiles, readFiles } from '../../../src/engine/shell/domain/loadDomain.ts';
import { newPersona } from '../../../src/extension/language/newPersona.ts';
import { desk, folderOf } from '../../engine/shell/load/domainFolder.ts';

const task = String(desk['tasks/first.task.yaml']).replace('plain', 'hurried');
const codesOf = (folder: string) => checkFiles(readFiles(folder)).diagnostics.map(({ code }) => code);

test.each(['hurried', '"hurried"'])('the unknown persona %s is created without another finding', (id) => {
  const folder = folderOf({ ...desk, 'tasks/first.task.yaml': task });
  expect(codesOf(folder)).toContain('task/unknown-persona');
  const made = newPersona(folder, id, new Map());
  expect(made?.file).toBe(join(folder, 'personas', 'hurried.persona.yaml'));
  writeFileSync(made?.file ?? '', made?.text ?? '');
  expect(codesOf(folder)).toEqual(codesOf(folderOf(desk)));
});

test('a persona is created in the folder that domain.yaml names, also where that is not saved yet', () => {
  const folder = folderOf(desk);
  const overlay = new Map([[join(folder, 'domain.yaml'), 'name: desk\npolicy: policy.md\npersonas: people\n']]);
  expect(newPersona(folder, 'hurried', overlay)?.file).toBe(join(folder, 'people', 'hurried.persona.yaml'));
});

test.each(['Not an id', '../out', 'plain'])('no persona is offered for %j', (id) => {
  const folder = folderOf(desk);
  writeFileSync(join(folder, 'personas', 'plain.persona.yaml'), 'id: other\ndescription: Another one.\n');
  expect(newPersona(folder, id, new Map())).toBeUndefined();
});
