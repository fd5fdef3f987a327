#!/usr/bin/env bash
# Gradescope runs this once, as root and with a network, when the autograder is uploaded.
# What submissions need later is made here: then there may be no network, and little time.
set -euo pipefail
cd /autograder/source/flashlab
export DEBIAN_FRONTEND=noninteractive HOME=/root

apt-get update
apt-get install -y --no-install-recommends ca-certificates curl git bubblewrap
# The simulator needs g++ 12 or newer; Ubuntu 22.04 has 11 under the plain name.
apt-get install -y --no-install-recommends g++-12 || apt-get install -y --no-install-recommends g++

need=$(sed -n 's/^go //p' go.mod)
if ! [ -x /usr/local/go/bin/go ]; then
    curl -fsSL "https://go.dev/dl/go$need.linux-amd64.tar.gz" | tar -C /usr/local -xz
fi
cp /autograder/source/run_autograder /autograder/run_autograder
chmod +x /autograder/run_autograder

. /autograder/source/environment
go mod download
go build -o out/bin/grader ./grader
out/bin/grader doctor
# The stubs, graded once: what all submissions have in common is compiled by that.
out/bin/grader gradescope -submission . -results out/first -course /autograder/source/course.toml -limit 30m $(cat /autograder/source/flags) || true
rm -rf out/first
