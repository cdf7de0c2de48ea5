import { didYouMean } from '../../../engine/shell/source/nearest.ts';
import { type Completed, UsageError } from '../../terminal/io.ts';
import { commands as consoleCommands } from '../console.ts';
import type { TerminalBreakpoints } from './breakpoints.ts';
import { completedInConsole, lastWordOf } from './completion.ts';
import { completedEdit, parseEdit } from './edit.ts';
import type { InProcessClient } from './inProcessClient.ts';

/** The parts of the session that a command can use. */
type Session = {
  readonly client: InProcessClient;
  readonly breakpoints: TerminalBreakpoints;
  readonly move: (request: () => Promise<unknown>) => Promise<void>;
  readonly fork: (request: () => Promise<unknown>) => Promise<void>;
  readonly type: (expression: string, moves: boolean) => Promise<void>;
  readonly where: () => Promise<void>;
  readonly show: (name: string) => Promise<void>;
  readonly shownNames: () => Promise<readonly string[]>;
  readonly print: (expression: string) => Promise<void>;
  readonly say: (type: 'answer', text: string) => void;
  readonly quit: () => void;
};

/** A command of the terminal, and the requests that it makes. */
type TerminalCommand = {
  readonly names: readonly string[];
  /** The argument that follows the name. */
  readonly takes?: string;
  readonly does: string;
  readonly run: (session: Session, text: string) => Promise<void>;
  /** Completes the argument when the person presses Tab. */
  readonly completed?: (session: Session, text: string) => Promise<Completed>;
};

const moving =
  (request: string) =>
  (session: Session): Promise<void> =>
    session.move(() => session.client.request(request, { threadId: 1 }));

const commands: readonly TerminalCommand[] = [
  {
    names: ['break', 'b'],
    takes: '[KIND NAME [if EXPR]]',
    does: 'sets a breakpoint; without arguments, lists them',
    run: async ({ breakpoints, say }, text) =>
      say('answer', text === '' ? breakpoints.list() : await breakpoints.add(text)),
    completed: ({ breakpoints }, text) => breakpoints.completed(text),
  },
  {
    names: ['delete', 'd'],
    takes: 'NUMBER|NAME|all',
    does: 'deletes a breakpoint',
    run: async ({ breakpoints, say }, text) => {
      if (text === '') throw new UsageError(`write delete and a number, a name or all:\n${breakpoints.list()}`);
      say('answer', await breakpoints.delete(text));
    },
    completed: async ({ breakpoints }, text) => lastWordOf(text, breakpoints.names()),
  },
  { names: ['step', 's'], does: 'goes to the next step, such as a call or its result', run: moving('stepIn') },
  { names: ['next', 'n'], does: "goes to the agent's next turn", run: moving('next') },
  { names: ['out'], does: 'goes to the end of this turn', run: moving('stepOut') },
  { names: ['back'], does: 'goes to the previous step, without calling anything', run: moving('stepBack') },
  {
    names: ['continue', 'c'],
    does: 'goes to the next breakpoint, or to the end of the rollout; at the end, ends the session',
    run: moving('continue'),
  },
  { names: ['reverse'], does: 'goes to the previous breakpoint, or to the first step', run: moving('reverseContinue') },
  {
    names: ['edit'],
    takes: 'message TEXT',
    does: 'makes a fork in which the last message has this text',
    run: async (session, text) => {
      const edit = await parseEdit(session.client, text);
      await session.fork(() => session.client.request('setExpression', { ...edit, frameId: 0 }));
    },
    completed: ({ client }, text) => completedEdit(client, text),
  },
  {
    names: ['print', 'p'],
    takes: 'EXPR',
    does: 'prints a value, such as db.orders.W1.status, messages[0].content or turn',
    run: async (session, text) => {
      if (text === '') throw new UsageError('write an expression: print db.orders.W1.status');
      await session.print(text);
    },
    completed: ({ client }, text) => completedInConsole(client, text),
  },
  {
    names: ['show'],
    takes: '[NAME]',
    does: 'prints messages, rules, verifiers, persona and more; without a name, lists them',
    run: (session, text) => session.show(text),
    completed: async ({ shownNames }, text) => {
      const isMeant = (name: string) => name.toLowerCase().startsWith(text.toLowerCase());
      return [(await shownNames()).filter(isMeant), text];
    },
  },
  { names: ['where', 'w'], does: 'prints the current step and the turns before it', run: (session) => session.where() },
  {
    names: ['help', 'h'],
    takes: '[COMMAND]',
    does: 'prints this list, or the help of a command',
    run: (session, text) => printHelp(session, text),
    completed: async (_, text) => lastWordOf(text, allNames),
  },
  { names: ['quit', 'q'], does: 'ends the session and keeps its recordings', run: async ({ quit }) => quit() },
];

const breakpointKinds = `Kinds of breakpoints: rule ID, tool NAME, turn N, task ID, persona ID, role user, role agent, verifier NAME,
row TABLE/ID/FIELD (stops when it is written) and read TABLE/ID/FIELD (stops when it is read). These need no name:
violation, toolError, invalidCall, loop, protocol, simulator, budget and reward0.`;

const editable = `What you can edit: message TEXT, argument NAME = VALUE (of the last call), row TABLE/ID/FIELD = VALUE, and
EXPRESSION = VALUE.`;

const more = `
${breakpointKinds}
${editable}
A command may begin with /. While you play a seat, a line without / is your message.
`;

const details: ReadonlyMap<string, readonly string[]> = new Map([
  ['break', [breakpointKinds]],
  ['edit', [editable]],
]);

const quiet = new Set(['/help', '/why', '/request']);

const allNames: readonly string[] = [
  ...new Set([
    ...commands.flatMap(({ names: [first] }) => first ?? []),
    ...consoleCommands.map((each) => each.slice(1)),
  ]),
];

/** Returns the only command that begins with some letters; the letters themselves where they are a name. */
function wholeName(name: string): string {
  if (commands.some(({ names }) => names.includes(name))) return name;
  const meant = allNames.filter((each) => name !== '' && each.startsWith(name));
  if (meant.length > 1 && !meant.includes(name))
    throw new UsageError(`"${name}" may be ${meant.join(' or ')}. Type more of it`);
  return meant.length === 1 ? (meant[0] ?? name) : name;
}

/**
 * Runs a typed line. Throws a `UsageError` if it cannot run.
 * @param awaited the seat whose turn a person must take; plain text is that turn
 */
export async function performLine(session: Session, line: string, awaited: string | null): Promise<void> {
  if (awaited !== null && !line.startsWith('/')) return session.type(line, true);
  const [, name = '', text = ''] = /^\/?(\S*)\s*(.*)$/s.exec(line) ?? [];
  const whole = wholeName(name);
  const command = commands.find(({ names }) => names.includes(whole));
  if (command) {
    if (command.takes === undefined && text.trim() !== '')
      throw new UsageError(`${whole} takes no argument, so "${text.trim()}" means nothing. Type ${whole} alone`);
    return command.run(session, text.trim());
  }
  const typed = consoleCommands.find((each) => each === `/${whole}`);
  if (!typed)
    throw new UsageError(`there is no command "${name}". ${didYouMean(name, allNames, 'help lists the commands')}`);
  return session.type(`${typed} ${text}`.trim(), !quiet.has(typed));
}

/** Returns what completes a line while it is typed: a command, or its argument. */
export async function completeLine(session: Session, line: string, awaited: string | null): Promise<Completed> {
  if (awaited !== null && !line.startsWith('/')) return [[], line];
  const [, slash = '', name = '', text] = /^(\/?)(\S*)(?:\s+(.*))?$/s.exec(line) ?? [];
  if (text === undefined)
    return [allNames.filter((each) => each.startsWith(name)).map((each) => slash + each), slash + name];
  const whole = wholeName(name);
  const command = commands.find(({ names }) => names.includes(whole));
  if (command) return command.completed?.(session, text) ?? [[], text];
  return completedInConsole(session.client, `/${whole} ${text}`);
}

async function printHelp(session: Session, name: string): Promise<void> {
  const row = ({ names, takes = '', does }: TerminalCommand) =>
    `  ${`${names.join(', ')} ${takes}`.trimEnd().padEnd(34)} ${does}`;
  const found = commands.filter(({ names }) => names.includes(name.replace(/^\//, '')));
  if (found.length > 0)
    return session.say(
      'answer',
      found.flatMap((each) => [row(each), ...(details.get(each.names[0] ?? '') ?? [])]).join('\n'),
    );
  session.say('answer', `${commands.map(row).join('\n')}\n${more}\nAs in the Debug Console:`);
  await session.type('/help', false);
}
