// Cost of freezing the intrinsics with SES before a domain's code is loaded, and the attacks that this prevents:
// `node bench/spike/ses.mjs FOLDER`, after `npm install --prefix FOLDER ses` and `npm run build`.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = new URL('../../', import.meta.url);
const [folder, setting] = process.argv.slice(2);
const rounds = 15;
if (setting) await measure();
else compare();

function compare() {
  const samples = { plain: [], lockdown: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const each of round % 2 ? ['plain', 'lockdown'] : ['lockdown', 'plain']) {
      const { stdout } = spawnSync(process.execPath, ['--no-warnings', fileURLToPath(import.meta.url), folder, each]);
      samples[each].push(JSON.parse(stdout));
    }
  const middle = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  for (const name of ['start', 'call']) {
    const [plain, lockdown] = ['plain', 'lockdown'].map((each) => samples[each].map((sample) => sample[name]));
    const ratio = middle(lockdown.map((value, at) => value / plain[at]));
    console.log(
      `${name}: ${middle(plain).toFixed(3)}, with lockdown ${middle(lockdown).toFixed(3)}, ${ratio.toFixed(2)} times`,
    );
  }
  const [{ patched, written }] = samples.lockdown;
  console.log(
    `with lockdown, code ${patched ? 'patches' : 'cannot patch'} JSON.stringify and ${written ? 'writes' : 'cannot write'} to any descriptor`,
  );
}

/** Loads the tools of order-desk and calls four of them. The start is CPU time in ms, a call in microseconds. */
async function measure() {
  if (setting === 'lockdown') {
    await import(pathToFileURL(join(folder, 'node_modules', 'ses', 'index.js')).href);
    lockdown({ errorTaming: 'unsafe', consoleTaming: 'unsafe', overrideTaming: 'severe' });
  }
  const shipped = { rehearsal: new URL('dist/authoring.mjs', root).href, zod: new URL('dist/zod.mjs', root).href };
  registerHooks({
    resolve: (specifier, context, next) =>
      shipped[specifier] ? { url: shipped[specifier], shortCircuit: true } : next(specifier, context),
  });
  const desk = new URL('domains/order-desk/', root);
  const tools = await import(new URL('tools.ts', desk).href);
  const db = JSON.parse(readFileSync(new URL('database.json', desk), 'utf8'));
  const start = cpu() / 1000;
  const from = cpu();
  const calls = 20_000;
  for (let at = 0; at < calls / 4; at += 1) {
    tools.find_customer_by_email.run({ email: 'kira.haddad@example.com' }, { db });
    tools.get_customer.run({ customer_id: 'C103' }, { db });
    tools.get_order.run({ order_id: 'W1004' }, { db });
    tools.list_variants.run({ product: 'desk lamp' }, { db });
  }
  const call = (cpu() - from) / calls;
  let patched = true;
  try {
    JSON.stringify = JSON.stringify.bind(JSON);
  } catch {
    patched = false;
  }
  const written = process.getBuiltinModule('node:fs').writeSync(2, '') === 0;
  console.log(JSON.stringify({ start, call, patched, written }));
}

function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
