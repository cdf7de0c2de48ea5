import { describeSimulated } from '../../engine/core/domain/simulatedTool.ts';
import type { Tool } from '../../engine/core/domain/tool.ts';
import type { Location } from '../../engine/shell/files/diagnostic.ts';
import type { DomainText, LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { Declared } from '../../engine/shell/source/scan.ts';
import { remembered } from '../../engine/shell/source/source.ts';
import { type Shapes, shapeOf } from './shape.ts';

/** A domain as its language features see it: what was read of it, and its tools where something has described them. */
export type LanguageDomain = {
  readonly loaded: LoadedDomain;
  /** Tools of code, servers and environments by name, as running them told; empty where no one has asked them. */
  readonly described: ReadonlyMap<string, Tool>;
};

/** The known facts about a tool. */
export type KnownTool = {
  readonly name: string;
  /** The location of its declaration in a file of the domain; null for a tool of a server or an environment. */
  readonly at: Location | null;
  readonly declared: Declared | null;
  readonly tool: Tool | null;
};

const known = new WeakMap<LanguageDomain, ReadonlyMap<string, KnownTool>>();

/** Every tool of the domain by name, in the order of its files. */
export function toolsOf(domain: LanguageDomain): ReadonlyMap<string, KnownTool> {
  return remembered(known, domain, () => {
    const { scan, simulated } = domain.loaded.parts;
    const tools = new Map([
      ...domain.described,
      ...simulated.map(({ value }) => [value.name, describeSimulated(value)] as const),
    ]);
    const names = new Set([...scan.tools.keys(), ...tools.keys()]);
    return new Map(
      [...names].map((name) => [
        name,
        {
          name,
          at: scan.tools.get(name) ?? null,
          declared: scan.declared.get(name) ?? null,
          tool: tools.get(name) ?? null,
        },
      ]),
    );
  });
}

/** The form of both databases. */
export function shapesOf({ loaded }: LanguageDomain): Shapes {
  return { agent: shapeOf(loaded.world.agent), user: shapeOf(loaded.world.user) };
}

/** A file of the domain; undefined for one that it does not read. */
export function textOf({ loaded }: LanguageDomain, file: string): DomainText | undefined {
  return loaded.parts.texts.get(file);
}

/** The names of arguments of a tool, and what is known of each; null where its schema is not known. */
export function parametersOf({ tool }: KnownTool): Readonly<Record<string, unknown>> | null {
  const { properties } = (tool?.parameters ?? {}) as { readonly properties?: Readonly<Record<string, unknown>> };
  return tool === null ? null : (properties ?? {});
}
