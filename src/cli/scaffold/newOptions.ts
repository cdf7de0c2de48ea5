import * as z from 'zod';
import { nowProblem } from '../../engine/shell/checks/checkState.ts';
import { maskingOptions } from '../conversations/conversations.ts';
import { flag, json, type OptionValues, oneNamed, option, repeated, text } from '../options/option.ts';
import { sampleNames, templateNames } from './shippedNames.ts';

const pair = z
  .string()
  .regex(/^[^=]+=/, 'NAME=VALUE')
  .transform((each): readonly [string, string] => {
    const at = each.indexOf('=');
    return [each.slice(0, at).trim(), each.slice(at + 1)];
  });
const isAddress = (given: string) => /^https?:/i.test(given) && URL.canParse(given);

/** The options of `rehearsal new`. */
export const newOptions = {
  template: oneNamed('NAME', 'the template', templateNames),
  sample: oneNamed('NAME', 'the sample domain, such as order-desk, which the tutorial uses', sampleNames),
  mcp: text('"COMMAND"', 'the command that starts a server, with its arguments: "npx -y some-server --flag"'),
  mcpUrl: option(
    'URL',
    'the address of a running server (Streamable HTTP)',
    z.string().refine(isAddress, 'an address such as http://127.0.0.1:8000/mcp'),
  ),
  env: option(
    'NAME=VALUE',
    'an environment variable of that command; ${env:NAME} is the value of yours when it starts, and ${instanceFolder} is a new folder for each rollout; repeatable',
    z.array(pair),
  ),
  files: text(
    'FOLDER',
    'the start files of the server: they are copied into the domain, and from there into the ${instanceFolder} of each rollout, so the folder itself is never changed',
  ),
  header: option('NAME=VALUE', 'header of every request to that address; repeatable', z.array(pair)),
  writes: text(
    'NAMES',
    'comma-separated tools of the server that change something, or none (default: as the server declares, otherwise by name and marked for review)',
  ),
  chats: repeated('FILE', 'conversations as `npx rehearsal import chats` reads them; more files can follow the folder'),
  spans: repeated('FILE', 'conversations as `npx rehearsal import spans` reads them'),
  format: text('NAME', 'the format of these files (default: detected from their content)'),
  simulator: text(
    'MODEL',
    'openai:MODEL[@BASE_URL], the model that simulates the tools of the log (default: you fill it in later)',
  ),
  ...maskingOptions,
  yes: flag('do not ask whether partial masking is enough'),
  noPlay: flag('write the drafts and call no tool'),
  list: flag("list the server's tools and write nothing"),
  name: text('NAME', 'name of the domain (default: the name of the folder)'),
  now: option(
    'DATE',
    "the date and time of its tasks (default: the template's)",
    z.string().refine((given) => nowProblem(given) === null, 'a date and time such as 2026-03-02T09:00:00Z'),
  ),
  json,
};

export type NewOptions = OptionValues<typeof newOptions>;
