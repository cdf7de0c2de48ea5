import { resolve } from 'node:path';
import { userSeatFor } from '../../engine/core/domain/domain.ts';
import { type SeatSpec, seatName, withModel } from '../../engine/core/domain/seatSpec.ts';
import { agentRepliesIn, previewPersona } from '../../engine/shell/audit/personaPreview.ts';
import { externalSeatsOf } from '../../engine/shell/externalSeats.ts';
import { parseSeat } from '../../engine/shell/models/parseSeat.ts';
import { readRecording } from '../../engine/shell/records/recording.ts';
import { suggestion } from '../../engine/shell/source/nearest.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { flag, json, text, wholeNumber } from '../options/option.ts';
import { openDomain, rateLimitOf, rateLimitWait, seed, settledModel, taskNamed } from '../options/rolloutOptions.ts';
import { type Io, UsageError } from '../terminal/io.ts';

export const preview: Command = defineCommand({
  name: 'preview',
  takes: 2,
  summary: 'show the first messages of a persona',
  usage: 'DOMAIN PERSONA [options]',
  about:
    "Plays the beginning of a task with a persona in the user's seat and prints the messages. Nothing is recorded.",
  options: {
    task: text('TASK', 'the task (default: the first one with this persona, else the first one)'),
    recording: text(
      'FILE',
      "takes the agent's messages from this recording (default, and where it has none: from the gold seat)",
    ),
    user: text('SEAT', 'agenda or openai:MODEL[@BASE_URL] (default: agenda)'),
    ownUser: flag("use the user's seat from domain.yaml"),
    messages: wholeNumber('N', 'number of user messages (default: 3)'),
    seed,
    rateLimitWait,
    json,
  },
  after: 'Exit code 0: played. 2: could not be played.',
  run: async (options, [folder, wanted], io) => {
    const domain = openDomain(io, folder);
    const { personas } = domain.domain;
    const persona = personas.find(({ id }) => id === wanted);
    if (!persona) {
      const what = wanted === undefined ? 'name a persona' : `there is no persona ${wanted}`;
      const ids = personas.map(({ id }) => id);
      const known = `${domain.folder} has ${ids.join(', ') || 'none'}`;
      throw new UsageError(`${what}; ${known}${suggestion(wanted ?? '', ids)}`);
    }
    const own = domain.tasks.find((task) => task.persona === persona.id) ?? domain.tasks[0];
    const task = taskNamed(domain, options.task ?? own?.id, io.cwd);
    const { recording, ownUser: isOwn } = options;
    const replies = recording === undefined ? null : repliesIn(resolve(io.cwd, recording), domain.domain.name);
    const named = isOwn ? userSeatFor(domain.file, 'evaluate') : (options.user ?? 'agenda');
    const asked = { role: 'user', chosen: isOwn ? undefined : named, own: named, settings: {} } as const;
    const seat = withModel(userSeat(named, isOwn ? 'domain' : 'person', io), (model) =>
      settledModel({ ...model, ...rateLimitOf(options) }, asked, domain.file, io.environment),
    );
    const seats = [{ type: 'gold' }, seat] as const;
    const externalSeats = externalSeatsOf(...seats, (name) => io.environment[name], askNobody);
    const messages = await previewPersona(domain, {
      persona: persona.id,
      task,
      ...(replies === null ? {} : { replies }),
      ...(seat.type === 'agenda' ? {} : { user: externalSeats.user }),
      messages: options.messages ?? 3,
      seed: options.seed ?? '1',
      signal: io.signal,
    });
    const agent = replies === null ? 'the gold seat' : 'as recorded';
    if (options.json)
      io.out(`${JSON.stringify({ persona: persona.id, task: task.id, agent, user: seatName(seat), messages })}\n`);
    else for (const { who, text: said } of messages) io.out(`${who.padEnd(8)}${said}\n`);
    return 0;
  },
});

/** A domain may name any address: a key goes along only where a person chose it. */
function userSeat(given: string, from: 'person' | 'domain', { environment }: Io): SeatSpec {
  const seat = parseSeat(given, 'user', from, environment);
  if (typeof seat === 'string') throw new UsageError(seat);
  if (seat.type !== 'agenda' && seat.type !== 'openai')
    throw new UsageError(`a preview is played by agenda or openai:MODEL[@BASE_URL], not by "${given}"`);
  return seat;
}

/**
 * Returns what the agent says in a recording of the domain; null where it says nothing, as in one of a run that broke.
 */
function repliesIn(file: string, name: string) {
  const events = readRecording(file).lines.map(({ event }) => event);
  const [first] = events;
  if (first?.type === 'rolloutStarted' && first.domain.name !== name)
    throw new UsageError(
      `${file} belongs to the domain ${first.domain.name}, and the persona to ${name}: name a recording of ${name}`,
    );
  const replies = agentRepliesIn(events);
  return replies.length === 0 ? null : replies;
}

function askNobody(): Promise<string> {
  return Promise.reject(new UsageError('no person is asked in a preview'));
}
