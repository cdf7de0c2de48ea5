#!/usr/bin/env bash
# Installs the command line, checks and evaluates a domain, and writes the reports. action.yml describes the inputs,
# which arrive as environment variables. The exit code is that of the first command that fails.
set -euo pipefail

npm install --global --prefix "$RUNNER_TEMP/rehearsal" --no-audit --no-fund --loglevel=error "$PACKAGE"
export PATH="$RUNNER_TEMP/rehearsal/bin:$RUNNER_TEMP/rehearsal:$PATH"

run=${OUTPUT:-$(mktemp -d "$RUNNER_TEMP/run.XXXXXX")/run}
summary=$RUNNER_TEMP/rehearsal-summary.md
options=(--out "$run" --trials "${TRIALS:-1}")
[ -z "${AGENT:-}" ] || options+=(--agent "$AGENT")
[ -z "${USER_SEAT:-}" ] || options+=(--user "$USER_SEAT")
[ -z "${GATE:-}" ] || options+=(--gate "$GATE")
# The input is the author's own workflow, written as in a shell.
eval "extra=(${ARGUMENTS:-})"

# Prints a command's output in the job's log and keeps it for the summary.
keep() {
  local status=0
  "$@" 2>&1 | tee "$RUNNER_TEMP/rehearsal-output.txt" || status=${PIPESTATUS[0]}
  return "$status"
}

status=0
keep rehearsal check "$DOMAIN" || status=$?
if [ "$status" -eq 0 ]; then
  keep rehearsal eval "$DOMAIN" "${options[@]}" ${extra[@]+"${extra[@]}"} || status=$?
fi

{
  if [ "$status" -eq 0 ]; then echo "### Rehearsal: \`$DOMAIN\` passed"; else echo "### Rehearsal: \`$DOMAIN\` failed"; fi
  echo
  echo '````text'
  # Control sequences of a terminal are not text.
  sed 's/\x1b\[[0-9;]*[A-Za-z]//g' "$RUNNER_TEMP/rehearsal-output.txt" | tail -c 60000
  echo '````'
} > "$summary"
cat "$summary" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"

{
  echo "summary=$summary"
  if [ -f "$run/run.json" ]; then
    rehearsal report "$run" --html "$run/report.html" --junit "$run/junit.xml" > /dev/null
    echo "run=$run"
    echo "report=$run/report.html"
    echo "junit=$run/junit.xml"
  fi
} >> "${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
