import { spacedName } from './exampleArguments.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Verbs that read wherever they are: they are not names of things. */
const reading = words(`
  analyse analyze browse calculate compute describe detect estimate explain fetch find get inspect lookup ls peek recommend
  retrieve search show suggest summarise summarize validate verify
`);

/** Verbs that read, and are names of things as well: they count at the beginning, or behind one word (`git_list_tags`). */
const readingOrThing = words('check compare count diff filter grep list look preview query read think view whoami');

/** Verbs among them that also count at the end of a name, as in `memory_bank_read`. */
const readingLast = words('count diff list read view');

/** Words that ask something when a name begins with them. */
const asking = words('are can does has have is');

/** Verbs that change something: none of them is a mere prefix, as `git` is one. */
const changing = words(`
  accept activate add adjust allocate answer append apply approve archive assign attach authorise authorize ban begin bind
  block book buy cancel capture change charge clear click clone close commit complete confirm connect copy create deactivate
  debit decline decrement delete deliver deny deploy deposit destroy detach disable discard dispatch drop edit enable end
  enroll erase escalate exchange execute extend file fill fix flag flip fork forward fulfil fulfill generate give grant
  handle hide hold import increment insert install invite invoke issue join kill launch leave link load lock log make mark
  merge mint modify move mute notify open order overwrite park patch pause pay perform pin place post print process publish
  purchase purge push put rate rebook refund register reject release remove rename renew reopen replace reply report request
  reschedule reserve reset resolve restart restore resume return revert revoke rotate run save schedule seed sell send set
  share ship sign skip start stop store submit subscribe suspend swap switch sync tag terminate toggle trade transfer trigger
  turn unblock uninstall unlock unpin unsubscribe update upgrade upload upsert use void waive wipe withdraw write
`);

/** Words that join a second verb to the first, as in `get_or_create`. */
const joining = words('and or then');

/**
 * Whether a tool only reads, by its name: its verb is first, last, or behind a prefix such as `git_`, and is one that reads.
 * A name without such a verb says nothing, and what says nothing may change something.
 */
export function soundsReading(name: string): boolean {
  const parts = spacedName(name).split(' ');
  const [first = '', second = ''] = parts;
  if (asking.has(first)) return true;
  if (first === 'check' && /^(?:in|off|out)$/.test(second)) return false;
  const isReading = (word: string, at: number) =>
    reading.has(word) || (at <= 1 && readingOrThing.has(word)) || (at === parts.length - 1 && readingLast.has(word));
  const verb = parts.findIndex((word, at) => changing.has(word) || isReading(word, at));
  const isOne = verb >= 0 && isReading(parts[verb] ?? '', verb);
  return isOne && !parts.some((word, at) => joining.has(word) && changing.has(parts[at + 1] ?? ''));
}
