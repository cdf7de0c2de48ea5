import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { balanceOf, balanceText } from '../../synthesis/balanceReport.ts';
import { gradeSelection } from '../../synthesis/grader.ts';
import { readSelection } from '../../synthesis/synthesisFolder.ts';
import { drafterNamed } from '../drafts/drafter.ts';
import type { Given } from '../options/command.ts';
import { openDomainAt, wholeNumber } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, progress, UsageError } from '../terminal/io.ts';
import { statusLine } from '../terminal/statusLine.ts';
import { synthesisIn } from './synthesisIn.ts';

/** `rehearsal synth grade FOLDER`: a model grades what was chosen, and the selection is settled again. */
export async function gradeRollouts(given: Given, io: Io): Promise<ExitCode> {
  const { folder, file } = synthesisIn(given, io);
  const grader = drafterNamed(given, io, 'grader');
  if (!grader) throw new UsageError('name the model that grades: --grader openai:MODEL[@BASE_URL]');
  const domains = new Map<string, LoadedDomain>();
  for (const { name, folder: own } of file.domains) domains.set(name, openDomainAt(own));
  const isJson = given.values['json'] === true;
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
    { concurrency: wholeNumber(given, 'concurrency') ?? 16, onGraded: (done, of) => show(done, of, 'graded') },
  );
  line.end();
  const balance = balanceOf(readSelection(folder));
  if (isJson) io.out(`${JSON.stringify({ folder, ...graded, balance })}\n`);
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
