#!/usr/bin/env bash
# Fuzzes every target of the course, each for a while: scripts/fuzz.sh [DURATION, or COUNTx], 30s without it.
# With the word list: says which these are. With the word short, as in .ci/run: 300 changed inputs of each target's kept
# corpus, by internal/mutate; Go's own fuzzing first compiles the standard library anew, for two minutes on one processor.
# Go keeps an input that fails in the package's testdata/fuzz; commit it with the cure, and every `make test` runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}

targets() {
    grep -rhoE --include='*_test.go' --exclude-dir=out --exclude-dir='_*' --exclude-dir='.?*' --with-filename '^func Fuzz\w+\(f \*testing\.F\)' . |
        sed -E 's/^(.*)\/[^/]*:func (Fuzz\w+)\(.*/\1 \2/' | sort
}

if [ "$time" = list ]; then
    targets
    exit 0
fi
if [ "$time" = short ]; then
    # shellcheck disable=SC2046 # several packages
    FLASHLAB_FUZZ=300 go test -vet=off -count=1 -run '^Fuzz' $(targets | cut -d' ' -f1 | sort -u)
    exit 0
fi
# Without the bound on minimizing, Go spends most of a short run on making one input smaller.
while read -r package target; do
    echo "fuzz: $target of $package, $time"
    go test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x -parallel "${FLASHLAB_PARALLEL:-$(nproc)}" "$package"
done < <(targets)
