#!/usr/bin/env bash
# Runs every planted bug of device/corpus under compute-sanitizer's four tools on
# GPU 0, and prints a Markdown table: what the simulator says of each, what
# compute-sanitizer says, and whether they agree; then Hopper's bugs, class by class.
# Logs go to out/sanitizer.
#
#   scripts/sanitizer-agreement.sh            all of it: about five minutes
#   scripts/sanitizer-agreement.sh REGEX      the bugs whose names or files match
#   scripts/sanitizer-agreement.sh 'bugs/(hopper|clusters|grids|groups|asynchronous)'
#                                             the tables of device/corpus/HOPPER.md
#
# It needs a GPU, nvcc and compute-sanitizer. JOBS is how many run at once (4).
set -euo pipefail
cd "$(dirname "$0")/.."

logs=out/sanitizer
tool=$(command -v compute-sanitizer || echo "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer")
[ -x "$tool" ] || {
    echo 'sanitizer-agreement: no compute-sanitizer: it comes with the CUDA toolkit; put it on the PATH' >&2
    exit 1
}

make -s grader >&2
settings=$(out/bin/grader env)
eval "$settings"
go build -tags cuda -o out/bin/runbug ./device/corpus/cmd/runbug
go build -o out/bin/agreement ./device/corpus/cmd/agreement
plan=$(out/bin/agreement -plan | grep -E "${1:-.}") || {
    echo "sanitizer-agreement: no bug or file matches $1; out/bin/agreement -plan lists them" >&2
    exit 1
}
# Each file once, not in every process.
cut -d ' ' -f 4 <<<"$plan" | sort -u | xargs -P "${JOBS:-4}" -n 1 out/bin/runbug -compile

rm -rf "$logs"
mkdir -p "$logs"

# Newer versions look for unwritten shared memory as well, when asked.
init=
"$tool" --help | grep -q -e --initcheck-address-space && init='--initcheck-address-space all'
export tool logs init

one() {
    local name=$1 kind=$2 limit=$3 log="$logs/$1.$2.log" code=0 extra=
    [ "$kind" = initcheck ] && extra=$init
    if [ "$kind" = result ]; then
        timeout -k 2 "$limit" out/bin/runbug -result "$name" >"$log" 2>&1 || code=$?
        echo "exit $code" >>"$log"
        return
    fi
    # shellcheck disable=SC2086 # extra is two words or none
    timeout -k 2 "$limit" "$tool" --tool "$kind" $extra --target-processes application-only --report-api-errors no \
        --show-backtrace no --print-limit 20 out/bin/runbug "$name" >"$log" 2>&1 || code=$?
    echo "exit $code" >>"$log"
}
export -f one

xargs -r -P "${JOBS:-4}" -L 1 bash -c 'one "$@"' one <<<"$plan"

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
"$tool" --version | tail -n 1
out/bin/agreement -table "$logs"
out/bin/agreement -hopper "$logs"
