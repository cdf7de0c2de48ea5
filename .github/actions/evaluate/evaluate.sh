#!/usr/bin/env bash
# Installs the command line, checks and evaluates a domain, and writes the reports. action.yml describes the inputs,
# which arrive as environment variables. The exit code is that of the first command that fails.
set -uo pipefail

run=${OUTPUT:-$(mktemp -d "$RUNNER_TEMP/run.XXXXXX")/run}
reports=$(mktemp -d "$RUNNER_TEMP/reports.XXXXXX")
export PATH="$RUNNER_TEMP/rehearsal/bin:$RUNNER_TEMP/rehearsal:$PATH"

evaluate() {
  set -e
  npm install --global --prefix "$RUNNER_TEMP/rehearsal" --no-audit --no-fund --loglevel=error "$PACKAGE"
  local options=(--agent "$AGENT" --out "$run" --trials "${TRIALS:-1}")
  [ -z "${USER_SEAT:-}" ] || options+=(--user "$USER_SEAT")
  [ -z "${GATE:-}" ] || options+=(--gate "$GATE")
  if ! bash -n <<< "extra=(${ARGUMENTS:-})"; then
    echo "The input 'arguments' is not valid in a shell: ${ARGUMENTS:-}"
    return 2
  fi
  # The input is the author's own workflow, written as in a shell.
  eval "local extra=(${ARGUMENTS:-})"
  rehearsal check "$DOMAIN"
  local status=0
  rehearsal eval "$DOMAIN" "${options[@]}" ${extra[@]+"${extra[@]}"} || status=$?
  if [ "$status" -eq 1 ]; then rehearsal explain "$run" || true; fi
  return "$status"
}

(evaluate) 2>&1 | tee "$reports/output.txt"
status=${PIPESTATUS[0]}

result=passed
[ "$status" -eq 0 ] || result="failed (exit code $status)"
{
  printf '### Rehearsal: `%s` %s\n\n````text\n' "$DOMAIN" "$result"
  # Control sequences of a terminal are not text, and a comment has a limit of 65,536 characters.
  sed 's/\x1b\[[0-9;]*[A-Za-z]//g' "$reports/output.txt" | tail -c 60000
  printf '````\n'
} > "$reports/summary.md"
cat "$reports/summary.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"

{
  echo "summary=$reports/summary.md"
  if [ -f "$run/run.json" ]; then
    rehearsal report "$run" --html "$reports/report.html" --junit "$reports/junit.xml" > /dev/null
    echo "run=$run"
    echo "report=$reports/report.html"
    echo "junit=$reports/junit.xml"
  fi
} >> "${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
