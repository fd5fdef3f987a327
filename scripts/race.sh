#!/usr/bin/env bash
# Runs, under the race detector, the tests of every package that starts goroutines, in its code or in its tests.
# With the word short: only those that link no simulator, as .ci/run does.
# With the word list: says which packages these are. grader/workflow_test.go holds this list to what Go parses.
set -euo pipefail
cd "$(dirname "$0")/.."

# `go func() …`, `go serve(…)`, and Go of a WaitGroup or an errgroup.
starts='^\s*go (func\(|[A-Za-z_][A-Za-z0-9_.]*\()|\.Go\('
packages() {
    grep -rlE --include='*.go' --exclude-dir=out --exclude-dir=testdata --exclude-dir='_*' --exclude-dir='.?*' "$starts" . |
        xargs -n1 dirname | sed 's|/solution$||' | sort -u # a solution's files are tested in its task's package
}

links_simulator() { go list -deps -test "$1" | grep -x flashlab/device/sim >/dev/null; } # -q would break the pipe

all=$(packages)
case ${1:-} in
list)
    echo "$all"
    exit 0
    ;;
short) all=$(for package in $all; do links_simulator "$package" || echo "$package"; done) ;;
esac

# The tasks' own tests need the solutions.
go build -o out/bin/grader ./grader
out/bin/grader overlay -o out/solutions.json
# The race detector is a C library. What tests build themselves is built as everywhere, without C.
# shellcheck disable=SC2086 # several packages
CGO_ENABLED=1 go test -race -vet=off -exec 'env CGO_ENABLED=0' -overlay=out/solutions.json -timeout 30m $all
