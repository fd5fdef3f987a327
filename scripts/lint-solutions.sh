#!/usr/bin/env bash
# Vets the solutions and has staticcheck look at them: each beside what its task provides, in a folder of out/.
# (go vet takes an overlay; staticcheck reads what is on disk.)
set -euo pipefail
cd "$(dirname "$0")/.."
work=out/lint
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
packages=()
for solution in task*/solution bonus/*/solution; do
    compgen -G "$solution/*.go" >/dev/null || continue
    task=${solution%/solution}
    mkdir -p "$work/$task"
    for from in "$task" "$solution"; do # a solution's file takes its stub's place
        find "$from" -maxdepth 1 \( -name '*.go' -o -name '*.cu' -o -name '*.cuh' \) -exec cp {} "$work/$task" \;
    done
    packages+=("./$work/$task")
done
go vet "${packages[@]}"
go tool staticcheck "${packages[@]}"
