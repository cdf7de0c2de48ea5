import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { draftText } from '../../authoring/draftText.ts';
import { personaIds } from '../../engine/core/domain/persona.ts';
import { readDomainFile } from '../../engine/shell/load/domainFiles.ts';
import { inside, type Overlay } from '../../engine/shell/source/source.ts';

/**
 * Returns the file of a new persona and its text, which is complete. Undefined where the file exists, or where the id or
 * the folder of personas is not valid.
 * @param written the id as it is in a task, with its quotes
 */
export function newPersona(folder: string, written: string, overlay: Overlay) {
  const id = written.replace(/^(["'])(.*)\1$/, '$2');
  if (!personaIds.pattern.test(id)) return undefined;
  const place = inside(folder, readDomainFile(folder, overlay, []).file.value.personas);
  const file = place && join(place, `${id}.persona.yaml`);
  if (!file || existsSync(file)) return undefined;
  const persona = { id, description: 'A person who says what they want, and answers what they are asked.' };
  return { id, file, text: draftText([persona], ['Describe who this person is. Completion offers the other keys.']) };
}
