import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { writeTypescriptPlugin } from '../../../scripts/typescriptPlugin.ts';
import { codeServerEntry } from '../../../scripts/vscode/codeServer.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { LanguageServer } from './languageServer.ts';

const tsserver = join(dirname(codeServerEntry), '../../lib/vscode/extensions/node_modules/typescript/lib/tsserver.js');
const obstacle = !existsSync(tsserver)
  ? 'the TypeScript server of VS Code is not installed (`npm test` fetches it)'
  : !existsSync(inRoot('dist/types/rehearsal/authoring.d.ts'))
    ? 'dist/types is not built'
    : undefined;
if (obstacle) console.warn(`SKIPPED: types in the editor: ${obstacle}`);

const tools = `import { defineTools, ToolError } from 'rehearsal';
import * as z from 'zod';
import { limit } from './limit.ts';
const { tool } = defineTools<{ agent: { orders: Record<string, { status: string }> } }>();
export const cancel_order = tool({
  description: 'Cancel.',
  effect: 'write',
  input: z.object({ order: z.string().max(limit), reason: z.enum(['late', 'other']).optional() }),
  run: ({ order, reason }, { db, random }) => {
    const found = db.orders[order];
    if (!found) throw new ToolError('no such order');
    found.status = reason ?? String(random.integer(3));
  },
});
`;
const wrong = `import { defineTools } from 'rehearsal';
import * as z from 'zod';
enum Status { Open }
const { tool } = defineTools<{ agent: { orders: string[] } }>();
export const a = tool({
  description: 'A.',
  effect: 'wirte',
  input: z.object({ order: z.string() }),
  run: ({ order }, { db }) => db.orders[order] ?? Status.Open,
});
`;

describe.skipIf(obstacle !== undefined)('types in the editor', () => {
  let server: LanguageServer;
  const folder = temporaryFolder('rehearsal-types');
  const write = (path: string, text: string) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const opened = (path: string, text: string) => {
    const file = write(path, text);
    server.open(file);
    return file;
  };

  beforeAll(async () => {
    const extension = join(folder, 'extension');
    mkdirSync(join(extension, 'dist'), { recursive: true });
    symlinkSync(inRoot('dist/types'), join(extension, 'dist/types'));
    await writeTypescriptPlugin(extension);
    write('desk/domain.yaml', 'name: desk\n');
    write('desk/limit.ts', 'export const limit: number = 9;\n');
    server = new LanguageServer(tsserver, extension);
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it('a domain without node_modules knows rehearsal and zod', async () => {
    const file = opened('desk/tools.ts', tools);
    expect(await server.errors(file)).toEqual([]);
    expect(await server.hover(file, 9, 18)).toContain('reason: "late" | "other" | undefined');
    expect(await server.hover(file, 12, 14)).toContain('status: string');
    expect(await server.hover(file, 12, 44)).toContain('integer: (below: number) => number');
  });

  it('a field is renamed where it is declared, read and taken apart', async () => {
    const reading = tools.replace(
      'const found = db.orders[order];',
      'const { orders } = db; const found = orders[order];',
    );
    const file = opened('desk/renamed.ts', reading);
    const offsetOf = (name: string) => (tools.split('\n')[3] ?? '').indexOf(name) + 1;
    expect(await server.renamed(file, 4, offsetOf('orders'), 'sales')).toEqual(['4:41 sales', '10:13 sales: orders']);
    expect(await server.renamed(file, 4, offsetOf('status'), 'stage')).toEqual(['4:66 stage', '12:11 stage']);
    expect(await server.renamed(file, 1, 1, 'nothing')).toEqual([]);
  });

  it('type errors in a domain are reported', async () => {
    const errors = await server.errors(opened('desk/wrong.ts', wrong));
    expect(errors.map((error) => error.split(' ').slice(0, 2).join(' '))).toEqual([
      '3: TS1294',
      '7: TS2820',
      '9: TS7015',
    ]);
  });

  it('a domain with a tsconfig.json keeps its options', async () => {
    write('strict/domain.yaml', 'name: strict\n');
    write('strict/limit.ts', 'export const limit: number = 9;\n');
    write(
      'strict/tsconfig.json',
      '{ "compilerOptions": { "module": "nodenext", "strict": true, "noUnusedLocals": true, "noEmit": true, "allowImportingTsExtensions": true } }',
    );
    const errors = await server.errors(opened('strict/tools.ts', `${tools}const unused = 1;\n`));
    expect(errors).toEqual(["15: TS6133 'unused' is declared but its value is never read."]);
  });

  it('a folder that is not a domain is left alone', async () => {
    const errors = await server.errors(opened('other/tools.ts', tools));
    expect(errors.join('\n')).toMatch(/Cannot find module 'rehearsal'/);
    expect(errors.join('\n')).toMatch(/Cannot find module 'zod'/);
  });
});
