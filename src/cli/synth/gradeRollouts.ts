import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { balanceOf, balanceText } from '../../synthesis/balanceReport.ts';
import { gradeSelection } from '../../synthesis/grader.ts';
import { readSelection } from '../../synthesis/synthesisFolder.ts';
import { drafterOf } from '../drafts/drafter.ts';
import { openDomainAt } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, progress, UsageError } from '../terminal/io.ts';
import { statusLine } from '../terminal/statusLine.ts';
import { synthesisIn } from './synthesisIn.ts';
import type { SynthOptions } from './synthOptions.ts';

/** `rehearsal synth grade FOLDER`: a model grades what was chosen, and the selection is settled again. */
export async function gradeRollouts(
  { grader: named, timeout, rateLimitWait, concurrency = 16, json }: SynthOptions,
  [synthesis]: readonly string[],
  io: Io,
): Promise<ExitCode> {
  const { folder, file } = synthesisIn(synthesis, io);
  const grader = drafterOf({ model: named, timeout, rateLimitWait }, io, 'grader');
  if (!grader) throw new UsageError('name the model that grades: --grader openai:MODEL[@BASE_URL]');
  const domains = new Map<string, LoadedDomain>();
  for (const { name, folder: own } of file.domains) domains.set(name, openDomainAt(own));
  const line = statusLine(io);
  const show = progress(io, line);
  const graded = await gradeSelection(
    folder,
    grader,
    (name) => {
      const domain = domains.get(name);
      if (!domain) throw new UsageError(`${folder}: the selection names the domain ${name}, and synth.json does not`);
      return domain.domain;
    },
    { concurrency, onGraded: (done, of) => show(done, of, 'graded') },
  );
  line.end();
  const balance = balanceOf(readSelection(folder));
  if (json) io.out(`${JSON.stringify({ folder, ...graded, balance })}\n`);
  else
    io.out(
      `${balanceText(balance)}${graded.kept} of ${graded.graded} graded rollouts would be kept, ${graded.errors} got no grade\n`,
    );
  if (io.signal.aborted) {
    io.err(`cancelled: run it again to grade the rest\n`);
    return 2;
  }
  return graded.errors > 0 ? 1 : 0;
}
