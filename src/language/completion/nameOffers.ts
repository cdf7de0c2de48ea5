import type { Path } from '../../engine/core/values/json.ts';
import type { Source } from '../../engine/shell/source/source.ts';
import { documentationOf, typeWords } from '../symbols/documentation.ts';
import { type LanguageDomain, parametersOf, toolsOf } from '../symbols/languageDomain.ts';
import type { SymbolKind } from '../symbols/roles.ts';
import { referencesByName } from '../symbols/symbolReferences.ts';
import { referenceContext } from '../symbols/symbols.ts';
import { valueAt } from '../symbols/yamlText.ts';
import { factNames, type Offer } from './offer.ts';

/** Returns what has a name of this kind in the domain. */
export function namesOf(
  domain: LanguageDomain,
  kind: Exclude<SymbolKind, 'argument' | 'field' | 'row'>,
): readonly Offer[] {
  if (kind === 'tool') return [...toolsOf(domain).keys()].map((label) => toolOffer(domain, label));
  const { loaded } = domain;
  const names = (() => {
    switch (kind) {
      case 'rule':
        return loaded.domain.policy.rules.map(({ id }) => id);
      case 'persona':
        return loaded.domain.personas.map(({ id }) => id);
      case 'task':
        return loaded.tasks.map(({ id }) => id);
      case 'verifier':
        return loaded.parts.verifiers;
      case 'phrases':
        return Object.keys(loaded.domain.phrases);
      case 'fact':
        return factNames(domain);
      default:
        return kind satisfies never;
    }
  })();
  return [...new Set(names)].map((label) => ({
    label,
    kind,
    documentation: documentationOf(domain, { kind, name: label }) ?? '',
    rank: 1,
  }));
}

/** A tool with its effect and what it does. */
export function toolOffer(domain: LanguageDomain, label: string): Offer {
  const known = toolsOf(domain).get(label);
  const effect = known?.tool?.effect ?? known?.declared?.effect;
  return {
    label,
    kind: 'tool',
    detail: [effect, known?.tool?.description].filter(Boolean).join(': '),
    documentation: documentationOf(domain, { kind: 'tool', name: label }) ?? '',
    rank: 1,
  };
}

/** The arguments of the call whose map of arguments this is: by the tool's schema, else as other calls have them. */
export function argumentNames(domain: LanguageDomain, source: Source, args: Path): readonly Offer[] {
  return argumentsOfTool(domain, String(valueAt(source, [...args.slice(0, -1), 'tool'])));
}

/** The arguments of a tool: by its schema, else as calls of it have them. */
export function argumentsOfTool(domain: LanguageDomain, tool: string): readonly Offer[] {
  const known = toolsOf(domain).get(tool);
  const parameters = known ? parametersOf(known) : null;
  const names = parameters ? Object.keys(parameters) : usedArguments(domain, tool);
  return names.map((label) => ({
    label,
    kind: 'argument',
    detail: parameters ? typeWords(parameters[label]) : `as other calls of ${tool} have it`,
    documentation: documentationOf(domain, { kind: 'argument', name: `${tool}.${label}` }) ?? '',
  }));
}

function usedArguments(domain: LanguageDomain, tool: string): readonly string[] {
  const all = referencesByName(domain.loaded.parts.texts, referenceContext(domain), domain);
  const prefix = `argument ${tool}.`;
  return [...all.keys()].flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []));
}
