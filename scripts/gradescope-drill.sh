#!/usr/bin/env bash
# Does with an autograder.zip what Gradescope does with one: unpacks it to /autograder/source of a root of
# its own, runs setup.sh there once and run_autograder for each submission, and looks at results.json.
#
#   scripts/gradescope-drill.sh ROOT [TASKS]     as root; TASKS is 1,2 without it
#
# ROOT holds a Debian or Ubuntu, and is used up:
#   debootstrap --variant=minbase bookworm ROOT http://deb.debian.org/debian
# Programs in it have the capabilities of a container (no mounts, no namespaces), so bubblewrap does not
# run and the back end 'uid' has to do. setup.sh has a network, run_autograder none.
# GO=/usr/local/go takes this Go in place of a download.
set -euo pipefail
root=$(realpath "$1") tasks=${2:-1,2}
cd "$(dirname "$0")/.."
work=out/gradescope
mkdir -p "$work"
go build -o out/bin/grader ./grader

# inside [--net] COMMAND...: as Gradescope's container would run it.
inside() {
    local net=--net
    if [ "$1" = --net ]; then net= && shift; fi
    # shellcheck disable=SC2086 # nothing, where the network stays
    unshare --mount --pid --fork --kill-child $net bash -euc '
        root=$1 && shift
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        mount -t tmpfs -o size=1M tmpfs "$root/dev"
        for d in null zero full random urandom tty; do
            touch "$root/dev/$d" && mount --bind "/dev/$d" "$root/dev/$d"
        done
        mkdir -m 1777 "$root/dev/shm" && mount -t tmpfs -o size=64M tmpfs "$root/dev/shm"
        ln -s /proc/self/fd "$root/dev/fd"
        if [ -n "${GO:-}" ]; then
            mkdir -p "$root/usr/local/go" && mount --bind -o ro "$GO" "$root/usr/local/go"
        fi
        caps=-all
        for c in chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write setfcap; do
            caps=$caps,+$c
        done
        exec setpriv --bounding-set="$caps" --inh-caps=-all env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            chroot "$root" sh -c "cd /autograder && exec \"\$@\"" sh "$@"' bash "$root" "$@"
}

# The machine's own name servers and certificates, for the set-up's downloads.
cp /etc/resolv.conf "$root/etc/resolv.conf"
if [ -d /usr/local/share/ca-certificates ]; then
    mkdir -p "$root/usr/local/share" && cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
fi

printf 'id,name\nada,Ada\n' >"$work/roster.csv"
printf '[visibility]\nhidden = "after_published"\n' >"$work/course.toml"
out/bin/grader gradescope-zip -course "$work/course.toml" -tasks "$tasks" -o "$work/autograder.zip"
rm -rf "$root/autograder"
mkdir -p "$root/autograder/source" "$root/autograder/results"
python3 -m zipfile -e "$work/autograder.zip" "$root/autograder/source"
chmod +x "$root/autograder/source/setup.sh"

echo "== setup.sh"
began=$SECONDS
inside --net bash /autograder/source/setup.sh >"$work/setup.log" 2>&1 || { tail -n 30 "$work/setup.log" && exit 1; }
echo "done in $((SECONDS - began)) s; the last lines of $work/setup.log:"
tail -n 5 "$work/setup.log"

# submit NAME WANT: grades what is in /autograder/submission. WANT is full or none.
submit() {
    rm -rf "$root/autograder/results" && mkdir "$root/autograder/results"
    cat >"$root/autograder/submission_metadata.json" <<JSON
{"id": 1, "created_at": "$(date -u +%FT%T.000000+00:00)", "users": [{"email": "ada@example.org", "id": 7, "name": "Ada", "sid": "ada"}], "previous_submissions": []}
JSON
    local began=$SECONDS code=0
    inside /autograder/run_autograder >"$work/$1.log" 2>&1 || code=$?
    cp "$root/autograder/results/results.json" "$work/$1.json"
    printf '== %s: exit code %d, %d s\n' "$1" "$code" "$((SECONDS - began))"
    head -n 1 "$work/$1.log"
    local said
    said=$(out/bin/grader gradescope -check "$work/$1.json")
    echo "$said"
    # "…: 5 points, of 5 in 23 tests"
    case $2 in
    full) [[ $said =~ :\ ([0-9.]+)\ points,\ of\ ([0-9.]+)\ in && ${BASH_REMATCH[1]} = "${BASH_REMATCH[2]}" && ${BASH_REMATCH[1]} != 0 ]] ;;
    none) [[ $said =~ :\ 0\ points, ]] ;;
    esac || { echo "gradescope-drill: $1 should have had $2 of its points" >&2 && exit 1; }
}

fill() { # from the solutions, or from the stubs
    rm -rf "$root/autograder/submission" && mkdir "$root/autograder/submission"
    for n in ${tasks//,/ }; do
        local dir
        dir=$(echo task"$n"_*)
        mkdir "$root/autograder/submission/$dir"
        find "$dir$1" -maxdepth 1 -type f \( -name '*.go' -o -name '*.cu' \) ! -name '*_test.go' -exec cp {} "$root/autograder/submission/$dir/" \;
    done
}

fill /solution && submit solution full
# Whoever a submission runs as reads nothing of the class or of hidden cases.
for secret in source/course.toml source/roster.csv source/flashlab/task1_reference/rubric.toml results/results.json; do
    if inside setpriv --reuid 54321 --clear-groups cat "/autograder/$secret" >/dev/null 2>&1; then
        echo "gradescope-drill: everybody can read /autograder/$secret" >&2 && exit 1
    fi
done
echo '== nobody else reads the class, the hidden cases or the results'
fill "" && submit stub none
rm -rf "$root/autograder/submission" && mkdir "$root/autograder/submission"
head -c 300 /dev/urandom >"$root/autograder/submission/essay.pdf" && submit unrelated none
