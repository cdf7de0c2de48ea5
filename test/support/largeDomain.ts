import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../scripts/repository.ts';

/** Copies order-desk into a folder, with 2,000 more tasks and a database of 40 MB. */
export function copyLargeDomain(folder: string): void {
  cpSync(inRoot('domains', 'order-desk'), folder, {
    recursive: true,
    filter: (path) => !path.includes('.rehearsal'),
  });
  const tasks = join(folder, 'tasks');
  const [, one = ''] = readFileSync(join(tasks, 'train.task.yaml'), 'utf8').split(/^(?=- id: )/m);
  for (const file of [0, 1, 2, 3]) {
    const texts = Array.from({ length: 500 }, (_, nth) => one.replace(/^- id: .*$/m, `- id: many-${file}-${nth}`));
    writeFileSync(join(tasks, `many-${file}.task.yaml`), texts.join(''));
  }
  const file = join(folder, 'database.json');
  const database = JSON.parse(readFileSync(file, 'utf8')) as { readonly customers: Record<string, object> };
  const [known = {}] = Object.values(database.customers);
  const address = 'x'.repeat(1000);
  for (let nth = 0; nth < 36_400; nth += 1)
    database.customers[`C9${nth}`] = { ...known, email: `c9${nth}@example.com`, address };
  writeFileSync(file, JSON.stringify(database));
}
