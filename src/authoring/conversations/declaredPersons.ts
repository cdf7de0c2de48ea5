import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { isPersonWord, kindOfField } from '../masking/fields.ts';
import type { PersonalKind } from '../masking/kind.ts';
import { isAlsoWord, isNoName } from '../masking/names.ts';
import { rememberedByName } from '../masking/rememberedByName.ts';
import { plainKey } from './messageTimes.ts';
import { listIn, roleNamed, textOf } from './saidMessage.ts';

/** Keys of words, calls and tools: persons in these are found where a conversation is masked. */
const words = new Set(
  `role content text parts body plainbody htmlbody toolcalls toolinvocations arguments tools functions tooldefs model
  responseformat functioncall usage`.split(/\s+/),
);

/** Keys of persons that are not fields of data. */
const participants =
  /^(?:authors?|agents?|operators?|representatives?|support|admins?|teammates?|collaborators?|submitter|speaker|participants?|profile|userprofile|enduser)$/;

/** The deepest place in a value that is looked at. */
const deepest = 12;

/**
 * Returns the persons that a value of a log declares outside of the messages, as fields such as `name`, `email`
 * and `id`: users, customers, and agents that have the name of a person. Names of models, products and roles are not
 * among them.
 */
export function personsIn(value: Json): readonly JsonObject[] {
  const found: JsonObject[] = [];
  lookIn(value, '', found, 0);
  return found;
}

function lookIn(value: Json | undefined, key: string, found: JsonObject[], depth: number): void {
  if (depth > deepest) return;
  if (Array.isArray(value)) for (const each of value) lookIn(each, key, found, depth + 1);
  if (!isObject(value)) return;
  const { type, is_bot, profile } = value;
  if (is_bot === true || /^(?:bot|team)$/.test(textOf(type) ?? '')) return;
  const speaker = speakerIn(value);
  const role = roleNamed(speaker ?? '');
  const isSpeaker = role === 'user' || role === 'agent';
  const isParty = isParticipant(key) || isObject(profile) || /^(?:from|to|cc)$/.test(key);
  const isPerson = isSpeaker || (role === undefined && isParty);
  const isHuman = isParticipant(key) || isParticipant(speaker ?? '');
  for (const [field, each] of entriesOf(value)) {
    if (each === null || each === '' || fieldOf(field).isOfWords) continue;
    if (typeof each === 'object') lookIn(each, field, found, depth + 1);
    else if (/messages$/.test(field)) for (const one of listIn(each)) lookIn(one, field, found, depth + 1);
    else found.push(...declaredBy(field, textOf(each) ?? '', { key, isPerson, isHuman, role }));
  }
}

/** Returns the fields of an object; a pair of a key and a value, as spans have it, is the field of that name. */
function entriesOf(object: JsonObject): readonly (readonly [string, Json])[] {
  const { key, value } = object;
  if (typeof key !== 'string' || value === undefined) return Object.entries(object);
  return [[key, isObject(value) ? (value['stringValue'] ?? value) : value]];
}

/** Returns the word for who speaks in a message, as the log has it. */
function speakerIn(object: JsonObject): string | undefined {
  const named = ['role', 'from', 'sender', 'author', 'speaker', 'type'].map((key) => textOf(object[key]) ?? '');
  return named.find((each) => roleNamed(each) !== undefined);
}

/** The facts about a field that its name gives. */
type Field = {
  readonly kind: PersonalKind | null;
  /** Whether it holds words, calls or tools. */
  readonly isOfWords: boolean;
  readonly isParticipant: boolean;
  /** `customer` and `name` of `customer_name`. */
  readonly who: string;
  readonly what: string;
};

const fieldOf = rememberedByName((name): Field => {
  const plain = plainKey(name);
  const path = name.split('.');
  const own = path.slice(/^(?:name|id)$/i.test(path.at(-1) ?? '') ? -2 : -1).join('_');
  const [, who = '', what = ''] = /^(.*?)[ _-]?(name|id)$/i.exec(own) ?? [];
  const isParticipant = participants.test(plain) || isPersonWord(name);
  return { kind: kindOfField(name), isOfWords: words.has(plain), isParticipant, who, what: what.toLowerCase() };
});

const isParticipant = (key: string) => fieldOf(key).isParticipant;

type FieldOwner = {
  /** The key of the object that has the field. */
  readonly key: string;
  /** Whether the object is a person, or the message of one. */
  readonly isPerson: boolean;
  /** Whether it is not a program that speaks for a shop. */
  readonly isHuman: boolean;
  readonly role: string | undefined;
};

function declaredBy(field: string, value: string, { key, isPerson, isHuman, role }: FieldOwner): readonly JsonObject[] {
  const { kind, who, what } = fieldOf(field);
  if (kind !== null && kind !== 'id' && kind !== 'name') return [{ [field]: value }];
  // Of data about a conversation, a name of several words may be that of its person.
  const isOfConversation = who === '' && what === 'name' && /^meta(?:data)?$/i.test(key);
  const isOf = what !== '' && (who === '' ? isPerson : isParticipant(who) || who === 'real');
  if (kind !== 'name' && !isOf && !isOfConversation && !isParticipant(field)) return [];
  const isOfAgent = role === 'agent' || /^(?:agent|assistant|operator)/i.test(who === '' ? key : who);
  const name = nameIn(value, isOfAgent || isOfConversation);
  const hasWords = name?.includes(' ') === true;
  if (isOfConversation) return name !== null && hasWords ? [{ name }] : [];
  if (kind === 'name' || (what === 'name' && isOf)) {
    // A program that answers has a name as well, of one word.
    const isOfProgram = isOfAgent && (field.includes('.') || (who === '' && !isHuman));
    return name === null || (isOfProgram && !hasWords) ? [] : [{ name }];
  }
  if (what === 'id' && isOf && (who !== '' || role === undefined))
    return [name !== null && isWrittenAsName(value) ? { name } : { id: value }];
  return hasWords && /^\p{Lu}/u.test(value) && isParticipant(field) ? [{ name }] : [];
}

/** The most signs of a name. */
const longest = 200;

/** Whether an id is that of its person's name: a word that is written large, or several. */
const isWrittenAsName = (value: string) => /^\p{Lu}/u.test(value) || /\p{L}[ ._-]\p{L}/u.test(value);

/** Returns the words of a name; null for the name of a role, of a program or of a thing. */
function nameIn(value: string, isOfAgent: boolean): string | null {
  if (value.length > longest) return null;
  const all = value
    .replace(/[([][^)\]]*[)\]]/g, ' ')
    .split(/(?<=,)\s*|[\s._-]+/u)
    .filter((each) => each !== '');
  if (all.length === 0 || all.length > 6 || !all.every((word) => /^\p{L}[\p{L}\p{M}'’]*,?$/u.test(word))) return null;
  const others = all.filter((word) => isOther(word.replace(',', '')));
  const isProgram = others.length > 0 || all.some((word) => /^\p{Ll}|\p{Ll}\p{Lu}/u.test(word));
  if (isOfAgent ? isProgram : others.length === all.length) return null;
  // In a handle such as `test_user` no word is a name.
  return others.length > 0 && !/^\p{Lu}/u.test(value) ? null : all.join(' ');
}

/** Whether a word is of a role or of the language, and not of a name. */
const isOther = (word: string) =>
  roleNamed(word) !== undefined || isPersonWord(word) || (word.length > 1 && isNoName(word) && !isAlsoWord(word));
