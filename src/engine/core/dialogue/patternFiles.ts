import agentActs from './patterns/agentActs.json' with { type: 'json' };
import assent from './patterns/assent.json' with { type: 'json' };
import change from './patterns/change.json' with { type: 'json' };
import confirmRequest from './patterns/confirmRequest.json' with { type: 'json' };
import consent from './patterns/consent.json' with { type: 'json' };
import contrast from './patterns/contrast.json' with { type: 'json' };
import decline from './patterns/decline.json' with { type: 'json' };
import echo from './patterns/echo.json' with { type: 'json' };
import handOff from './patterns/handOff.json' with { type: 'json' };
import kind from './patterns/kind.json' with { type: 'json' };
import mention from './patterns/mention.json' with { type: 'json' };
import misunderstanding from './patterns/misunderstanding.json' with { type: 'json' };
import offer from './patterns/offer.json' with { type: 'json' };
import opener from './patterns/opener.json' with { type: 'json' };
import otherMatter from './patterns/otherMatter.json' with { type: 'json' };
import proposal from './patterns/proposal.json' with { type: 'json' };
import refusal from './patterns/refusal.json' with { type: 'json' };
import reply from './patterns/reply.json' with { type: 'json' };
import report from './patterns/report.json' with { type: 'json' };
import request from './patterns/request.json' with { type: 'json' };
import sense from './patterns/sense.json' with { type: 'json' };
import tone from './patterns/tone.json' with { type: 'json' };
import userActs from './patterns/userActs.json' with { type: 'json' };
import userQuestion from './patterns/userQuestion.json' with { type: 'json' };
import verdict from './patterns/verdict.json' with { type: 'json' };
import withdrawal from './patterns/withdrawal.json' with { type: 'json' };

/** Alternatives of a regular expression. Each entry of a file has some. */
export type Part = {
  readonly about: string;
  /**
   * The alternatives. In them and in `pattern`, `{name}` is the source of another entry of the file, and `{file.name}`
   * of an entry of another file.
   */
  readonly any?: readonly string[];
  /** The regular expression around the alternatives, which are `{any}` in it. */
  readonly pattern?: string;
};
/** A part with texts that it must match and similar texts that it must not match, as the code tests them. */
export type LabelledPart = Part & {
  readonly flags?: string;
  readonly examples: readonly string[];
  readonly counterexamples?: readonly string[];
};
/** Each alternative of an entry of `lists` is a regular expression by itself. */
export type PatternFile = {
  readonly words?: Readonly<Record<string, Part>>;
  readonly patterns?: Readonly<Record<string, LabelledPart>>;
  readonly lists?: Readonly<Record<string, LabelledPart>>;
};

/** Has the data files of `patterns/`. */
export const patternFiles = {
  agentActs,
  assent,
  change,
  confirmRequest,
  consent,
  contrast,
  decline,
  echo,
  handOff,
  kind,
  mention,
  misunderstanding,
  offer,
  opener,
  otherMatter,
  proposal,
  refusal,
  reply,
  report,
  request,
  sense,
  tone,
  userActs,
  userQuestion,
  verdict,
  withdrawal,
} as const satisfies Record<string, PatternFile>;
