#!/usr/bin/env bash
# Takes the students' way: makes a release of the last commit, unpacks it, runs its
# make demo and make test from the stubs, types in a solution (here: copies one)
# and grades it, packs it, and takes a newer release. It ends at the first thing
# that goes wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s grader
# -stale: the page is made again on a GPU, which need not have happened yet.
out/bin/grader release -stale -version 1.walk "$work"
out/bin/grader release -stale -version 2.walk "$work"

say() { printf '\n-- walk-release: %s\n' "$*"; }
cp -r "$work"/flashlab-1.walk-*/ "$work/student"
cd "$work/student"
# The simulator and kernels that were compiled before, by content: a student's first time is make demo's here.
export FLASHLAB_CACHE=$root/out/cache

say 'make demo'
make demo
say 'make test, from the stubs'
make test

say 'task 1 typed in'
cp "$root/task1_reference/solution/attention.go" task1_reference/
make test
make grade TASK=1 SEED=1
out/bin/grader grade -task 1 -seed 1 >/dev/null # make does not fail for lost points, this does
sed -i '0,/^…$/s//My answer./' Results.md # below the first question
grep -q '1\.walk-' Results.md || { echo 'walk-release: Results.md does not name the release' >&2; exit 1; }

say 'make grade SOLUTION=1, which is refused'
if make grade TASK=1 SOLUTION=1; then
    echo 'walk-release: a students'\'' tree has no solutions to grade' >&2
    exit 1
fi

say 'make pack'
make pack | tee out/pack.txt
grep -q '^Receipt: ' out/pack.txt

say 'make update'
make update FROM="$(ls "$work"/flashlab-2.walk-*.zip)"
grep -q '^My answer\.$' Results.md
cmp task1_reference/attention.go "$root/task1_reference/solution/attention.go"
grep -q '"version": "2\.walk"' release.json
make grade TASK=1 SEED=1
out/bin/grader grade -task 1 -seed 1 >/dev/null
say 'all of it works'
