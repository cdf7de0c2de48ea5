import { relative } from 'node:path';
import { occasionalBehaviours, type Persona } from '../../engine/core/domain/persona.ts';
import { addPack, personaPacks } from '../../engine/shell/domain/personaPack.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { json, text } from '../options/option.ts';
import { openDomain } from '../options/rolloutOptions.ts';
import { UsageError } from '../terminal/io.ts';

export const personas: Command = defineCommand({
  name: 'personas',
  takes: 1,
  summary: 'list the simulated users of a domain, or add a pack of them',
  usage: 'DOMAIN [options]',
  about: `
Lists the personas of a domain and their behavior. With --add, it copies a pack of personas that comes with Rehearsal
into the domain, as a file that you can edit. The personas of the pack "red-team" try to get what the policy forbids. Run
tasks under them with: npx rehearsal eval DOMAIN --under 'red-team-*'
`,
  options: { add: text('NAME', 'the pack to copy: red-team'), json },
  run: async ({ add, json }, [named], io) => {
    const domain = openDomain(io, named);
    if (add !== undefined) {
      const packs = personaPacks();
      const pack = packs.find(({ name }) => name === add);
      if (!pack)
        throw new UsageError(`there is no pack "${add}"; there is ${packs.map(({ name }) => name).join(', ')}`);
      const added = addPack(domain, pack);
      if (typeof added === 'string') throw new UsageError(`${add} can't be added: ${added}`);
      const ids = pack.personas.map(({ id }) => id);
      io.out(
        json
          ? `${JSON.stringify({ file: added.file, personas: ids })}\n`
          : `wrote ${relative(io.cwd, added.file)}: ${ids.join(', ')}\n`,
      );
      return 0;
    }
    const all = domain.domain.personas;
    if (json) io.out(`${JSON.stringify(all)}\n`);
    else
      for (const persona of all) io.out(`${persona.id}: ${traitsOf(persona).join(', ') || 'no difficult behavior'}\n`);
    return 0;
  },
});

function traitsOf({ behaviours, attacks }: Persona): readonly string[] {
  const always = (['omits', 'changes', 'insists'] as const).filter((name) => behaviours[name]);
  const sometimes = occasionalBehaviours.filter((name) => behaviours[name] !== false);
  return [...always, ...sometimes, ...attacks.map(({ aim }) => `attacks: ${aim}`)];
}
