#!/bin/sh
# Draws what a task measures: `make plot TASK=3` or TASK=5. SOLUTION=1 draws the
# reference. Task 5 is measured on a GPU where there is one (DEVICE=sim: not there).
#
# Usage: out/bin/grader must have been built (make plot does it).
set -eu
cd "$(dirname "$0")/.."

overlay=
if [ -n "${SOLUTION:-}" ]; then
    out/bin/grader overlay -o out/solutions.json
    overlay=-overlay=out/solutions.json
fi

case ${TASK:-3} in
3)
    go run $overlay ./grader/tasks/task3/worker table out/traffic.json
    go run ./grader/bench/plot out/traffic.png <out/traffic.json
    ;;
5)
    tags=
    if [ "${DEVICE:-auto}" = sim ]; then
        :
    elif command -v nvidia-smi >/dev/null && settings=$(out/bin/grader env 2>/dev/null); then # a GPU and nvcc
        eval "$settings"
        tags='-tags cuda'
    elif [ "${DEVICE:-auto}" = cuda ]; then
        out/bin/grader env >/dev/null # says what is missing
    fi
    go run $tags $overlay ./grader/tasks/task5/worker table out/split.json "${DEVICE:-auto}"
    go run ./grader/bench/plot out/split.png <out/split.json
    ;;
*)
    echo "plot: task ${TASK} has nothing to draw; 3 and 5 have" >&2
    exit 2
    ;;
esac
