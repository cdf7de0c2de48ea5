import type { RuleOf } from '../domain/rule.ts';
import { readArguments } from '../events/message.ts';
import { equalJson } from '../expression/expression.ts';
import { type JsonObject, textOrJson } from '../values/json.ts';
import { type Finding, held, type Moment, violated } from './finding.ts';
import { binds, type Seen } from './seen.ts';

/** A call of `tools` needs an earlier successful call of one of `require`, about the same thing where `same` says so. */
export function before(rule: RuleOf<'before'>, moment: Moment, { domain, calls }: Seen): readonly Finding[] {
  if (moment.type !== 'call' || !binds(rule.tools, moment.call.name, domain.tools, rule.require)) return [];
  const { name } = moment.call;
  const args = readArguments(moment.call);
  const shared = (rule.same ?? []).filter((key) => args[key] !== undefined);
  const isAboutSame = (earlier: JsonObject) => shared.every((key) => equalJson(earlier[key], args[key]));
  const earlier = calls().filter(({ tool, failed }) => !failed && rule.require.includes(tool));
  const found = earlier.find((call) => isAboutSame(call.args));
  if (found) return [held(`${found.tool} succeeded before ${name}`, [found.step])];
  const required = rule.require.join(' or ');
  if (shared.length === 0) return [violated(`${name} was called before any successful ${required}`)];
  const what = shared.map((key) => `${key} ${textOrJson(args[key])}`).join(', ');
  return [
    violated(
      `${name} was called before a successful ${required} with ${what}`,
      earlier.map(({ step }) => step),
    ),
  ];
}
