import { siftByWords } from '../../authoring/drafts/contradictions.ts';
import { modelVariants } from '../../authoring/drafts/modelVariants.ts';
import { type Sifted, sift } from '../../authoring/drafts/soundDrafts.ts';
import { sourceData } from '../../authoring/drafts/sourceData.ts';
import { type TaskData, variantsOf } from '../../authoring/drafts/variants.ts';
import { draftText } from '../../authoring/draftText.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { counted } from '../../engine/core/text/counted.ts';
import type { JsonObject } from '../../engine/core/values/json.ts';
import { describedDomain } from '../../engine/shell/describe.ts';
import { withDrafts } from '../../engine/shell/load/drafts.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { domainFolder, openDomainAt, taskNamed } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { drafterOf } from './drafter.ts';
import type { DraftOptions } from './draftOptions.ts';
import { freeFile } from './freeFile.ts';
import { putDrafts } from './putDrafts.ts';

/** Candidates that are put through the gate at once, and how many rounds of them there are at most. */
const candidatesPerRound = 8;
const mostRounds = 10;
const mostVariants = 100;

/** Drafts variants of a task. */
export async function draftVariants(
  options: DraftOptions,
  [folder, task]: readonly string[],
  io: Io,
): Promise<ExitCode> {
  const loaded = await describedDomain(openDomainAt(domainFolder(io, folder)));
  const { id } = taskNamed(withDrafts(loaded), task, io.cwd);
  const placed = loaded.parts.tasks.find(({ value }) => value.id === id);
  if (!placed) throw new UsageError(`${id}: name the task without a persona; its variants keep their own`);
  const { count = 5, seed = '1' } = options;
  if (count > mostVariants) throw new UsageError(`--count is at most ${mostVariants}, not "${count}"`);
  const drafter = drafterOf(options, io);
  const data = sourceData(placed);
  const { sound, refused } = drafter
    ? await modelVariants(loaded, placed.value, data, count, drafter)
    : await drawnVariants(loaded, placed.value, data, { count, seed }, io);
  if (io.signal.aborted) throw new UsageError('cancelled');
  const reasons = [...new Set(refused.map(({ why }) => why))].slice(0, 3);
  if (sound.length === 0)
    throw new UsageError(
      `no variant of ${placed.value.id} is sound: ${reasons.join('; ') || 'there are no other rows'}. Draft its variants with ${drafter ? 'another' : 'a'} model (--model), or by hand`,
    );
  const by = drafter
    ? `by ${drafter.seat.model}`
    : `without a model: other rows of the database, drawn by seed ${seed}`;
  const comment = [`Variants of ${placed.value.id}, drafted ${by}. Read them, and accept those that are right.`];
  if (sound.length < count) {
    const why = reasons.length > 0 ? `; others were left out: ${reasons.join('; ')}` : ': there are no more rows';
    const verb = sound.length === 1 ? 'is' : 'are';
    io.err(`${counted(sound.length, 'variant')} of ${count} ${verb} sound${why}\n`);
  }
  const files = new Map([[freeFile(loaded, 'task', `${placed.value.id}-variants`), draftText(sound, comment)]]);
  const ids = sound.map((each) => each.id);
  const code = await putDrafts({ folder: loaded.folder, files, ids, sound: 'task' }, options, io);
  return code === 0 && sound.length < count ? 1 : code;
}

/** Variants by seed, the likeliest first, until enough are sound. */
async function drawnVariants(
  loaded: LoadedDomain,
  task: Task,
  data: JsonObject,
  { count, seed }: { readonly count: number; readonly seed: string },
  io: Io,
): Promise<Sifted<TaskData>> {
  const drawn = variantsOf(loaded, task, data, seed);
  if (typeof drawn === 'string') throw new UsageError(drawn);
  const { sound: candidates, refused: contradictory } = siftByWords(loaded, task, drawn);
  const refused = [...contradictory];
  let sound: readonly TaskData[] = [];
  const perRound = Math.max(candidatesPerRound, 2 * count);
  for (let round = 0; round < mostRounds && sound.length < count && !io.signal.aborted; round++) {
    const next = candidates.slice(round * perRound, (round + 1) * perRound);
    if (next.length === 0) break;
    io.err(`trying ${counted(next.length, 'candidate')} (${sound.length} of ${count} found)\n`);
    // Those that are sound so far go along, so that none says the same as another.
    const sifted = await sift(loaded, 'task', [...sound, ...next], io.signal);
    sound = sifted.sound;
    refused.push(...sifted.refused);
  }
  return { sound: sound.slice(0, count), refused };
}
