import { relative } from 'node:path';
import { domainBeside } from '../../engine/shell/domainBeside.ts';
import { type Command, text } from '../command.ts';
import { Debuggee } from '../dap/debuggee.ts';
import { headlineOf } from '../dap/explanation.ts';
import { chainOf } from '../dap/why.ts';
import { UsageError } from '../io.ts';
import { requireRecording } from '../requireRecording.ts';
import { openDomain, unknownDomain } from '../rolloutOptions.ts';

export const explain: Command = {
  name: 'explain',
  takes: 1,
  summary: 'say why a rollout got its reward: each verdict, its evidence, and where the files demand it',
  help: `rehearsal explain RECORDING [--domain FOLDER]

The chain of evidence behind a reward, as /why shows it in the debugger: the verdict of every verifier, the rules that
were violated, the steps that show it, what the database lacks against the gold actions, and the lines of the domain's
files that demand it. No model is asked; the gold actions are played in a lane.

  --domain FOLDER    the domain it was recorded in (default: from run.json beside the recording)
  --json             machine-readable output
`,
  options: { domain: { type: 'string' } },
  run: async (given, io) => {
    const named = given.positionals[0];
    const recording = requireRecording(named, io);
    const folder = text(given, 'domain') ?? domainBeside(recording);
    if (folder === undefined) throw unknownDomain(recording, 'Name its folder with --domain FOLDER');
    const domain = openDomain(io, folder);
    const log: string[] = [];
    const gold = { type: 'gold' } as const;
    const debuggee = new Debuggee({
      domain,
      agent: gold,
      user: { type: 'agenda' },
      forkAgent: gold,
      readKey: () => undefined,
      askPerson: () => Promise.reject(new Error('nobody is asked')),
      log: (line) => log.push(line),
    });
    try {
      debuggee.attach(recording, Number.MAX_SAFE_INTEGER);
      const { steps, task } = debuggee;
      const state = steps.at(-1)?.state;
      if (!state) throw new UsageError(`${named}: it has no step that can be shown`);
      const headline = headlineOf(state);
      const chain = chainOf({ domain: debuggee.domain, task, steps, gold: await debuggee.gold() });
      if (given.values['json'] === true)
        io.out(`${JSON.stringify({ recording, reward: state.reward?.value ?? null, headline, chain })}\n`);
      else {
        const place = (at: { readonly file: string; readonly line: number } | undefined) =>
          at === undefined ? '' : `   (${relative(io.cwd, at.file)}:${at.line})`;
        io.out(`${[...headline, ...chain.map(({ text: line, at }) => `${line}${place(at)}`)].join('\n')}\n`);
      }
      return 0;
    } finally {
      await debuggee.close();
    }
  },
};
