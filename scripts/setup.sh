#!/bin/sh
# Checks what flashlab needs: Go, and a C++ compiler for the simulator. On
# Debian and Ubuntu, as root, it installs what is missing; elsewhere it prints
# the line to type. Once all is well it leaves a stamp and is quick.
set -eu
cd "$(dirname "$0")/.."

need_go=26 # the minor version: Go 1.26
stamp=out/setup.stamp

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

check_go() {
    has go || fail "Go is not installed. flashlab needs Go 1.$need_go or newer: https://go.dev/doc/install"
    # In this folder an older go fetches the version that go.mod asks for.
    if ! version=$(go env GOVERSION 2>&1); then
        fail "Go does not run here:" "$version" "flashlab needs Go 1.$need_go or newer: https://go.dev/doc/install"
    fi
    minor=${version#go1.}
    minor=${minor%%[!0-9]*}
    case $version in
    go1.*) [ "${minor:-0}" -ge "$need_go" ] || fail "this is $version; flashlab needs Go 1.$need_go or newer: https://go.dev/doc/install" ;;
    go[2-9]*) ;;
    *) printf 'setup: cannot read the Go version "%s"; going on\n' "$version" >&2 ;;
    esac
}

# What the stamp stands for: with another Go or another compiler it is void.
fingerprint() {
    printf '%s|%s|' "$version" "${CXX-}"
    for tool in g++ clang++ c++; do
        printf '%s|' "$(command -v $tool || true)"
    done
    cksum <scripts/setup.sh
}

# The probe compiles a kernel in the simulator and runs it.
probe() { out/bin/grader doctor -quiet; }

is_debian_root() {
    [ "$(id -u)" -eq 0 ] && [ -e /etc/debian_version ] && has apt-get
}

install_missing() {
    set --
    has make || set -- "$@" make
    has g++ || set -- "$@" g++
    [ $# -gt 0 ] || return 1 # nothing that apt could add
    echo "setup: installing $*"
    mkdir -p out
    if ! {
        apt-get update && DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends "$@"
    } >out/apt.log 2>&1; then
        tail -n 5 out/apt.log >&2
        fail "apt-get could not install $*; its whole output is in out/apt.log"
    fi
}

# Is one of the compilers there that device/sim tries?
has_compiler() {
    for tool in ${CXX:+"$CXX"} g++ g++-14 g++-13 g++-12 clang++ clang++-18 clang++-17 clang++-16; do
        ! has "$tool" || return 0
    done
    return 1
}

# Who once typed sudo has files of root's here.
check_owner() {
    for dir in out out/bin out/cache out/cache/modules; do
        [ ! -d "$dir" ] || [ -w "$dir" ] ||
            fail "you may not write to $dir, which is another user's (of a make with sudo?). To make it yours, type:" "  sudo chown -R \"\$(id -un)\" out"
    done
}

line_to_type() {
    if has apt-get; then
        echo 'sudo apt-get update && sudo apt-get install -y make g++'
    elif has dnf; then
        echo 'sudo dnf install -y make gcc-c++'
    elif has pacman; then
        echo 'sudo pacman -S --needed make gcc'
    elif [ "$(uname -s)" = Darwin ]; then
        echo 'xcode-select --install    (or, with Homebrew: brew install gcc make)'
    else
        echo 'install GNU make and g++ (or clang++) with your package manager'
    fi
}

check_owner
check_go
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ]; then
    exit 0
fi

# These two take a minute or so, once: who waits should know for what.
[ -x out/bin/grader ] || echo 'setup: building the grader …'
CGO_ENABLED=${CGO_ENABLED:-0} go build -o out/bin/grader ./grader ||
    fail "the grader does not build (see above). If Go could not fetch a module, check the network or GOPROXY and try again."

echo 'setup: compiling the simulator, and a first kernel in it …'
if ! report=$(probe 2>&1); then
    if is_debian_root && install_missing; then
        report=$(probe 2>&1) || fail "the simulator does not work, with g++ installed:" "$report"
    elif has_compiler; then
        fail "the simulator cannot compile and run a kernel here:" "$report"
    else
        fail "the simulator cannot compile and run a kernel here:" "$report" "To get a C++ compiler, type:" "  $(line_to_type)"
    fi
fi

fingerprint >"$stamp.$$"
mv "$stamp.$$" "$stamp"
