#!/usr/bin/env bash
# Installs the command line, checks and evaluates a domain, and writes the reports. action.yml describes the inputs,
# which arrive as environment variables. The exit code is that of the first command that fails, or 2 if npm fails.
set -uo pipefail

run=${OUTPUT:-$(mktemp -d "$RUNNER_TEMP/run.XXXXXX")/run}
reports=$(mktemp -d "$RUNNER_TEMP/reports.XXXXXX")
export PATH="$RUNNER_TEMP/rehearsal/bin:$RUNNER_TEMP/rehearsal:$PATH"
printf '%s\n' "$RUNNER_TEMP/rehearsal" "$RUNNER_TEMP/rehearsal/bin" >> "${GITHUB_PATH:-/dev/null}"

evaluate() {
  set -e
  # npm takes FOLDER/FILE for a repository on GitHub unless the path is absolute.
  [ ! -f "$PACKAGE" ] || PACKAGE=$(cd "$(dirname "$PACKAGE")" && pwd)/$(basename "$PACKAGE")
  if ! npm install --global --prefix "$RUNNER_TEMP/rehearsal" --no-audit --no-fund --loglevel=error "$PACKAGE" > /dev/null; then
    echo "The input 'package' cannot be installed: $PACKAGE. It is an npm package, or the path of a .tgz file from the root of the checkout."
    return 2
  fi
  local options=(--out "$run" --trials "${TRIALS:-1}")
  [ -z "${AGENT:-}" ] || options+=(--agent "$AGENT")
  [ -z "${USER_SEAT:-}" ] || options+=(--user "$USER_SEAT")
  [ -z "${GATE:-}" ] || options+=(--gate "$GATE")
  if ! bash -n <<< "extra=(${ARGUMENTS:-})"; then
    echo "The input 'arguments' is not valid in a shell: ${ARGUMENTS:-}"
    return 2
  fi
  # The input is the author's own workflow, written as in a shell.
  eval "local extra=(${ARGUMENTS:-})"
  local approvals=() previous= each
  for each in ${extra[@]+"${extra[@]}"}; do
    case $each in --approve=*) approvals+=("$each") ;; esac
    [ "$previous" != --approve ] || approvals+=("--approve=$each")
    previous=$each
  done
  rehearsal check "$DOMAIN" ${approvals[@]+"${approvals[@]}"}
  local status=0
  rehearsal eval "$DOMAIN" "${options[@]}" ${extra[@]+"${extra[@]}"} || status=$?
  [ "$status" -gt 1 ] || touch "$reports/evaluated"
  if [ "$status" -eq 1 ]; then rehearsal explain "$run" || true; fi
  return "$status"
}

# Prints whole lines up to a size. A comment has a limit of 65,536 characters.
first_bytes() {
  LC_ALL=C awk -v limit="$1" '
    (size += length($0) + 1) > limit { print "... The rest is in the log of the job."; exit }
    { print }'
}

touch "$reports/start"
(evaluate) 2>&1 | tee "$reports/log.txt"
status=${PIPESTATUS[0]}

# With the input `output`, the folder can hold an older run that `eval` refused to resume.
has_run() {
  [ -f "$run/run.json" ] || return 1
  [ ! -f "$reports/evaluated" ] || return 0
  [ -n "$(find "$run" \( -name run.json -o -name '*.traj.jsonl' \) -newer "$reports/start")" ]
}

# The comment omits progress and paths of the runner. Backticks are shortened so that no output ends the code block.
sed -e 's/\x1b\[[0-9;]*[A-Za-z]//g' -e 's/`````*/```/g' -e '/^[0-9]*\/[0-9]* mean reward /d' \
  -e 's#[^ ]*/\([^/ ]*\.traj\.jsonl\)#\1#g' "$reports/log.txt" > "$reports/output.txt"
# The message of a command that refuses to run is the last of its output, and can have several lines.
awk "/^rehearsal [a-z]+: / { refused = 1 }
  refused || /^(gate (held|missed|not decided): |(not run|incomplete): |[0-9]+ (scored )?of [0-9]+(,| rollouts? could| tasks? failed)|.* warning domain\/not-approved |.*: [0-9]+ of [0-9]+ rollouts? (is|are) finished\.|The input ')/" \
  "$reports/output.txt" > "$reports/result.txt"
# The report has a line for each rollout that failed or has no reward.
grep -E '^[^ ]+: (no reward|reward [0-9.]+), trial [0-9]+, ' "$reports/output.txt" > "$reports/failed.txt"

result=passed fold='<details>'
[ "$status" -eq 0 ] || result="failed (exit code $status)"
has_run || fold='<details open>'
{
  printf '### Rehearsal: `%s` %s\n\n' "$DOMAIN" "$result"
  if [ -s "$reports/result.txt" ]; then
    printf '````text\n'
    first_bytes 4000 < "$reports/result.txt"
    first_bytes 4000 < "$reports/failed.txt"
    printf '````\n\n'
  fi
  printf '%s<summary>Output</summary>\n\n````text\n' "$fold"
  first_bytes 52000 < "$reports/output.txt"
  printf '````\n\n</details>\n'
  if has_run; then
    printf '\nThe recordings (`*.traj.jsonl`) and the HTML report are artifacts of [this job](%s) if the workflow uploads the outputs `run` and `report`.\n' \
      "${GITHUB_SERVER_URL:-}/${GITHUB_REPOSITORY:-}/actions/runs/${GITHUB_RUN_ID:-}"
  fi
} > "$reports/summary.md"
cat "$reports/summary.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"

{
  echo "summary=$reports/summary.md"
  if has_run; then
    rehearsal report "$run" --html "$reports/report.html" --junit "$reports/junit.xml" > /dev/null
    echo "run=$run"
    echo "report=$reports/report.html"
    echo "junit=$reports/junit.xml"
  fi
} >> "${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
