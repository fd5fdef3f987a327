#!/usr/bin/env bash
# Checks, without a GPU, what only a machine with one runs: vets and links the
# build with the tag cuda, and compiles every .cu with nvcc, for Hopper (sm_90a).
#
# The compiler is an installed one (CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda)
# or comes from PyPI, into out/nvcc. Where neither is available the check is skipped
# and says so: it never fails for want of a compiler, only for code that is wrong.
#
# What compiled is on record (device/nvcc/testdata/compiled.txt) by the hash of all that decides, and is compiled again
# where that has changed, where the commit draws it, one in ten, or with FLASHLAB_FRESH=1. The command rewrites the
# record.
#
# Usage: out/bin/grader must have been built (make nvcc-check does it).
# With the word hash, a file and flags for nvcc: says that hash.
# With the word fetch: only brings a compiler where there is none.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/out/nvcc
mkdir -p "$work"

skip() {
    echo "nvcc-check: skipped: $*"
    exit 0
}

# Macros that Go defines when it compiles a file; any numbers that fit will do here. A task's are in its rubric.
macros() {
    local i
    for i in "${!patterns[@]}"; do
        # shellcheck disable=SC2053 # a pattern
        if [[ $1 == ${patterns[i]} ]]; then
            echo "${flags[i]}"
            return
        fi
    done
    case $1 in
    ./nn/linear.cu) echo '-DBLOCK=256 -DGELU=1 -DADD=2 -DSWIGLU=3' ;;
    ./nn/alone.cu) echo '-DGELU=1 -DADD=2 -DSWIGLU=3' ;;
    ./nn/gemm.cu) echo '-DBLOCK=256 -DGELU=1 -DADD=2 -DSWIGLU=3' ;;
    ./nn/product.cu) echo '-DBLOCK=128 -DSLAB=32 -DGELU=1 -DADD=2 -DSWIGLU=3' ;;
    ./nn/hopper.cu) echo '-DSLAB=32 -DCOLUMNS=128 -DGELU=1 -DADD=2 -DSWIGLU=3' ;;
    ./nn/flash.cu) echo '-DBLOCK=256 -DDIM=128' ;;
    ./nn/pieces.cu) echo '-DBLOCK=256 -DSLAB=32' ;;
    ./nn/norm.cu) echo '-DBLOCK=1024 -DHELD=4' ;;
    ./nn/argmax.cu) echo '-DBLOCK=256' ;;
    ./nn/rope.cu) echo '-DHEADS=4' ;;
    ./nn/attention.cu) echo '-DBLOCK=64 -DMAX_DIM=256' ;;
    ./nn/gpt2/persistent/*.cu)
        echo '-DWIDTH=768 -DINNER=3072 -DHEADS=12 -DLAYERS=12 -DWARPS=12 -DSPLITS=8 -DSLOT=3072 -DSLOTS=13 -DROUND=6 -DFLIGHT=2 -DBITS=32 -DHELD=4 -DOWN=6 -I nn/persistent' ;;
    ./nn/half/decoder/persistent/*.cu)
        echo '-DHIDDEN=4096 -DMLP=14336 -DHEADS=32 -DKV_HEADS=8 -DDIM=128 -DLAYERS=32 -DWARPS=14 -DSEGMENT=1024 -DSPLITS=12 -DBITS=16 -DGROUPS=32' \
            '-DSLOT=14336 -DSLOTS=7 -DFLIGHT=2 -DSUMS=1024 -DOWN=32 -I nn/persistent' ;;
    ./nn/half/norm.cu) echo '-DBLOCK=512 -DHELD=4' ;;
    ./nn/half/attention.cu) echo '-DMAX_DIM=256' ;;
    ./grader/grading/worker/gauge.cu) echo '-DBLOCK=256 -DADDS=16' ;;
    ./grader/tasks/b1/worker/rotate.cu) echo '-DHEADS=8' ;;
    ./device/devicetest/ptx_memory.cu) echo '-include device/devicetest/ptx.cu' ;; # it goes on where that ends
    ./grader/demo/neighbours.cu) echo '-DWITH_BARRIER=1' ;;
    ./device/program/testdata/two*.cu) echo '-rdc=true' ;; # a kernel calls a function of another file
    esac
}

# Files that nvcc refuses, and should.
refused() {
    case $1 in
    ./device/sim/testdata/bugs.cu) echo 'it writes to __constant__, a bug planted for the simulator' ;;
    *) return 1 ;;
    esac
}

# settings prints what `go build -tags cuda` needs, by the rules of nvcc.Find.
settings() { out/bin/grader env 2>/dev/null; }

# fetch brings a compiler from PyPI: some 400 MB on disk, once.
fetch() {
    command -v python3 >/dev/null || { echo 'there is no nvcc here, and no python3 to fetch one'; return 1; }
    local venv=$work/toolkit
    if [ ! -e "$venv/complete" ]; then
        echo 'nvcc-check: no nvcc here: fetching one from PyPI, into out/nvcc' >&2
        rm -rf "$venv"
        { python3 -m venv "$venv" &&
            timeout 180 "$venv/bin/pip" install -q --no-deps --disable-pip-version-check --retries 1 \
                'nvidia-cuda-runtime==13.*' 'nvidia-cuda-crt==13.*' 'nvidia-cuda-nvcc==13.*' \
                'nvidia-cuda-cccl==13.*' 'nvidia-nvvm==13.*' &&
            touch "$venv/complete"; } >"$work/fetch.log" 2>&1 ||
            { echo "there is no nvcc here, and PyPI gave none ($(tail -n 1 "$work/fetch.log"))"; return 1; }
    fi
    echo "$venv"/lib/python3*/site-packages/nvidia/cu13
}

if [ "${1:-}" = fetch ]; then
    settings >/dev/null || fetch >/dev/null || true
    exit 0
fi
if ! env=$(settings); then
    home=$(fetch) || skip "$home"
    export CUDA_HOME=$home
    env=$(settings) || skip "the compiler from PyPI does not run here: $(out/bin/grader env 2>&1 || true)"
fi
eval "$env"
echo "nvcc-check: $NVCC"

# call FLAGS...: as each file is compiled.
call() {
    "$NVCC" "-gencode=arch=compute_$arch,code=sm_$arch" -std=c++17 -O3 \
        -allow-unsupported-compiler -I device/nvcc/include -I device/include "$@" 2>&1
}

# hash_of FILE FLAGS...: of nvcc's version, the flags and the text as it is preprocessed, but for what comes from
# outside of this tree, which goes with the version. Nothing where that fails.
hash_of() {
    local file=$1 text
    shift
    text=$(call -E "$@" -x cu "$file") || return 0
    { "$NVCC" --version; echo "$arch $*"; awk '/^# [0-9]+ "/ { ours = $3 !~ /^"[\/<]/; next } ours' <<<"$text"; } | sha256sum | cut -c1-16
}

# compile FILE FLAGS...: silent where all is well.
compile() {
    local file=$1 output cubin=$work/$BASHPID.cubin failed=0
    shift
    output=$(call -cubin "$@" -o "$cubin" -x cu "$file") || failed=1
    rm -f "$cubin"
    [ "$failed" -eq 0 ] || printf '%s\n' "$output"
    return "$failed"
}

# If this file fails, the fault is not ours. CUDA before 12 knows no sm_90a.
echo 'extern "C" __global__ void probe(float *x) { x[threadIdx.x] = 1; }' >"$work/probe.cu"
arch=90a
compile "$work/probe.cu" >/dev/null || arch=90
trouble=$(compile "$work/probe.cu") || skip "$NVCC compiles nothing here: $trouble"

if [ "${1:-}" = hash ]; then
    hash_of "${@:2}"
    exit
fi

build() {
    # Only machines with a GPU have the driver. An empty library takes its place, as
    # nothing that is linked here is ever run.
    mkdir -p "$work/stub"
    echo 'int nothing;' | "${CC:-cc}" -shared -x c - -Wl,-soname,libcuda.so.1 -o "$work/stub/libcuda.so"
    export CGO_LDFLAGS="-L$work/stub -Wl,--unresolved-symbols=ignore-all"
    go vet -tags cuda ./...
    go test -tags cuda -c -o "$work/cuda.test" ./device/cuda
    echo 'nvcc-check: the build with the tag cuda is well'
}

if echo '#include <cuda.h>' | eval "${CC:-cc} $CGO_CFLAGS -E -x c -o /dev/null -" 2>/dev/null; then
    build
else
    echo 'nvcc-check: this toolkit has no cuda.h: the build with the tag cuda goes unchecked'
fi

# Versions of solutions, put together: they share headers, and may be told by what differs.
versions=out/nvcc/versions
rm -rf "$versions"
out/bin/grader overlay VERSIONS=1 O="$versions"
patterns=() flags=() # of the rubrics' lines
while IFS=$'\t' read -r pattern defined; do
    patterns+=("$pattern") flags+=("$defined")
done <"$versions/macros"

# The tests that need a compiler, and no GPU. They need no C of their own, so they are built as by make test.
tests() { CGO_ENABLED=0 FLASHLAB_ALL=1 go test -vet=off -ldflags=-w "$@"; }
tests -run 'TestTestdataIsValidCUDA' ./device/sim
tests ./device/nvcc
tests -run 'TestNvccTakesTheCorpus' ./device/corpus # its files of planted bugs twice
echo 'nvcc-check: the tests that need nvcc alone pass'

record=device/nvcc/testdata/compiled.txt
mkdir -p "${record%/*}"
touch "$record"
commit=$(git rev-parse HEAD 2>/dev/null || true)
drawn() { [ $((0x$(sha256sum <<<"$commit$1" | cut -c1-8) % 10)) -eq 0 ]; }

# check FILE FLAGS...: leaves a line in met, skipped or failed.
check() {
    local file=$1 name=${1/#$versions/versions} line
    line="$(hash_of "$@") $name"
    if grep -qxF "$line" "$record" && [ -z "${FLASHLAB_FRESH:-}" ] && ! drawn "$name"; then
        echo "$line" >>"$work/skipped"
    elif compile "$@"; then
        echo "$line" >>"$work/met"
    else
        echo "$file" >>"$work/failed"
    fi
}

# As many at once as there are processors.
files=0
for list in met skipped failed; do : >"$work/$list"; done
while IFS= read -r file; do
    if reason=$(refused "$file"); then
        echo "nvcc-check: $file left out: $reason"
        continue
    fi
    files=$((files + 1))
    while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    # shellcheck disable=SC2046 # several macros
    check "$file" $(macros "${file/#$versions/.}") &
done < <(
    find . -name '*.cu' -not -path './out/*' -not -path './.git/*' -not -path './device/corpus/*' -not -path '*/_bases/*' -not -path '*/_versions/*' | sort # copies of solutions
    find "$versions" -name '*.cu' | sort
)
wait
failures=$(wc -l <"$work/failed")
LC_ALL=C sort -k 2 "$work/met" "$work/skipped" >"$work/record"
cmp -s "$work/record" "$record" || mv "$work/record" "$record"

if [ "$failures" -ne 0 ]; then
    echo "nvcc-check: $failures of $files .cu files do not compile for sm_$arch." >&2
    echo 'nvcc-check: macros that Go defines belong into the rubric of the task, [[nvcc]]; others into scripts/nvcc-check.sh' >&2
    exit 1
fi
echo "nvcc-check: $files .cu files compile for sm_$arch; $(wc -l <"$work/skipped") of them are on record and were not tried again"
