import { shellWord } from '../terminal/shellWord.ts';
import { type Command, optionsOf } from './command.ts';
import type { Option } from './option.ts';

/** Writes the script that completes the commands in a shell. */
export const completionScripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies Record<
  string,
  (commands: readonly Command[]) => string
>;

/** Returns the first part of a description, without defaults. */
const short = (description: string): string => description.split(/; |\. |: | \(/)[0] ?? '';

const takesTask = ({ name, usage }: Command): boolean => usage.includes(`${name} DOMAIN TASK`);

function bashScript(commands: readonly Command[]): string {
  // Bash reads the list again, and inserts a word as it is: a space in it needs a backslash afterwards.
  const list = (words: readonly string[]) => shellWord(words.map((word) => word.replaceAll(' ', '\\\\ ')).join('|'));
  const cases = commands.map((command) => {
    const options = optionsOf(command);
    const free = options.filter(({ type, choices }) => type === 'string' && choices.length === 0);
    return `    ${command.name})
      options=${list(options.map(({ name }) => `--${name}`))} actions=${list(command.actions)}${takesTask(command) ? ' takesTask=1' : ''}
      case $previous in
${options.map(({ name, choices }) => (choices.length > 0 ? `        --${name}) words=${list(choices)} ;;\n` : '')).join('')}\
        ${free.map(({ name }) => `--${name}`).join(' | ')}) return ;;
      esac
      ;;`;
  });
  return `# Completes the command line of Rehearsal in bash.
_rehearsal() {
  local IFS=$'|\\n' current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local commands=${list(commands.map(({ name }) => name))} words= options= actions= takesTask=
  # --name=value is three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    help) actions=$commands ;;
  esac
  if ((COMP_CWORD == 1)); then
    words="$commands|help|--version"
  elif [[ -z $words && $current == -* ]]; then
    words=$options
  elif [[ -z $words && $COMP_CWORD == 2 ]]; then
    words=$actions
  elif [[ -z $words && -n $takesTask && $COMP_CWORD == 3 ]]; then
    words=$("\${COMP_WORDS[0]}" completion tasks "\${COMP_WORDS[2]}" 2>/dev/null)
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _rehearsal rehearsal
`;
}

function zshScript(commands: readonly Command[]): string {
  const plain = (text: string) => text.replace(/[\\[\]:]/g, '\\$&');
  const spec = ({ name, type, multiple, value = '', description, choices }: Option) => {
    const about = `${multiple ? '*' : ''}--${name}${type === 'string' ? '=' : ''}[${plain(short(description))}]`;
    if (type === 'boolean') return shellWord(about);
    const values = choices.map((choice) => choice.replaceAll(' ', '\\ ')).join(' ');
    return shellWord(`${about}:${plain(value)}:${choices.length > 0 ? `(${values})` : '_files'}`);
  };
  const cases = commands.map((command) => {
    const { name, actions } = command;
    const first = actions.length > 0 ? [shellWord(`1: : _rehearsal_first ${actions.join(' ')}`)] : [];
    const task = takesTask(command) ? [shellWord('2: : _rehearsal_tasks "$line[1]"')] : [];
    return `    ${name})
      _arguments ${[...optionsOf(command).map(spec), ...first, ...task, shellWord('*: :_files')].join(' \\\n        ')}
      ;;`;
  });
  return `#compdef rehearsal
# Completes the command line of Rehearsal in zsh.
_rehearsal_first() {
  compadd -- "$@"
  _files
}
_rehearsal_tasks() {
  compadd -- \${(f)"$("$program" completion tasks "\${(Q)1}" 2>/dev/null)"}
}
_rehearsal() {
  local program=$words[1]
  local -a commands=(
${commands.map(({ name, summary }) => `    ${shellWord(`${name}:${plain(short(summary))}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${cases.join('\n')}
    help) _describe command commands ;;
  esac
}
if [[ $funcstack[1] == _rehearsal ]]; then
  _rehearsal "$@"
else
  compdef _rehearsal rehearsal
fi
`;
}

function fishScript(commands: readonly Command[]): string {
  const text = (words: string) => `'${words.replace(/[\\']/g, '\\$&')}'`;
  const values = (words: readonly string[]) => text(words.map((word) => word.replaceAll(' ', '\\ ')).join(' '));
  const complete = (command: string, rest: string) => `complete -c rehearsal -n '__rehearsal_is ${command}' ${rest}`;
  const ofOption = ({ name, type, description, choices }: Option) => {
    const value = type === 'boolean' ? '' : choices.length > 0 ? ` -x -a ${values(choices)}` : ' -r -F';
    return `-l ${name}${value} -d ${text(short(description))}`;
  };
  const ofCommand = (command: Command) => [
    complete("''", `-f -a ${command.name} -d ${text(short(command.summary))}`),
    ...(command.actions.length > 0 ? [complete(command.name, `-a ${values(command.actions)}`)] : []),
    ...(takesTask(command) ? [complete(`${command.name} 3`, "-f -a '(__rehearsal_tasks)'")] : []),
    ...optionsOf(command).map((option) => complete(command.name, ofOption(option))),
  ];
  return `# Completes the command line of Rehearsal in fish.
function __rehearsal_is
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"; or return
    test (count $argv) -lt 2; or test (count $words) -eq $argv[2]
end
function __rehearsal_tasks
    set -l words (commandline -opc)
    $words[1] completion tasks $words[3] 2>/dev/null
end
${commands.flatMap(ofCommand).join('\n')}
`;
}
