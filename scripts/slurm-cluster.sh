#!/usr/bin/env bash
# A real Slurm of one node on this machine, for tests: no systemd, no root needed,
# nothing outside its folder.
#
#   scripts/slurm-cluster.sh start DIR   prints the settings: eval them, or source DIR/env
#   scripts/slurm-cluster.sh stop DIR    ends it, and all that runs in it
#   scripts/slurm-cluster.sh kill-node DIR, node DIR    the node lost, and back again
#   scripts/slurm-cluster.sh controller DIR             the controller restarted
#   scripts/slurm-cluster.sh check       says what is missing, if anything
#
# It takes Debian's slurmctld, slurmd, slurm-client and munge (Slurm 22.05). CPUS
# (4) is how many processors the node claims; they need not be there.
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin

die() { echo "slurm-cluster: $*" >&2; exit 1; }

check() {
    local tool missing=
    for tool in munged slurmctld slurmd sbatch squeue scancel scontrol; do
        command -v "$tool" >/dev/null || missing+=" $tool"
    done
    [ -z "$missing" ] || die "not installed:$missing (apt-get install slurmctld slurmd slurm-client munge)"
}

# A port that nobody listens on. Two that start at once may still collide; then
# the one that came late says so.
free_port() {
    local port
    for _ in $(seq 100); do
        port=$((20000 + RANDOM % 20000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
    die 'no free port'
}

configure() {
    local user memory
    user=$(id -un)
    memory=$(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
    cat >"$dir/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
MpiDefault=none
SwitchType=switch/none
TaskPlugin=task/none
ProctrackType=proctrack/linuxproc
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_min_interval=100000
DefMemPerCPU=100
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=2
InactiveLimit=0
MinJobAge=60
MaxArraySize=2000
JobRequeue=1
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$(free_port) CPUs=${CPUS:-4} RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=n1 Default=YES MaxTime=60 State=UP
CONF
    # The node may claim more processors than there are.
    echo 'SlurmdParameters=config_overrides' >>"$dir/slurm.conf"
    cat >"$dir/env" <<ENV
export SLURM_CONF='$dir/slurm.conf'
ENV
}

start() {
    check
    mkdir -p "$dir"/{state,spool}
    chmod 700 "$dir" "$dir"/{state,spool}
    [ ! -e "$dir/munged.pid" ] || die "a cluster runs in $dir already: stop it first"
    (umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
    munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
        --log-file="$dir/munged.log" --seed-file="$dir/munge.seed" 2>>"$dir/munged.log" || die "munged does not start: $(tail -n 3 "$dir/munged.log")"
    configure
    export SLURM_CONF="$dir/slurm.conf"
    slurmctld -i -f "$SLURM_CONF" 2>>"$dir/slurmctld.log" || die "slurmctld does not start: $(tail -n 3 "$dir/slurmctld.log")"
    node
    local i
    for i in $(seq 150); do
        if sinfo -h -o %T 2>/dev/null | grep -q '^idle$'; then
            cat "$dir/env"
            return
        fi
        sleep 0.1
    done
    tail -n 5 "$dir/slurmctld.log" "$dir/slurmd.log" >&2
    die 'the node does not come up'
}

node() { slurmd -N n1 -f "$dir/slurm.conf" 2>>"$dir/slurmd.log" || die "slurmd does not start: $(tail -n 3 "$dir/slurmd.log")"; }

end() { # pid file
    local pid
    [ -s "$dir/$1" ] || return 0
    pid=$(cat "$dir/$1")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 50); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    rm -f "$dir/$1"
}

stop() {
    export SLURM_CONF="$dir/slurm.conf"
    [ -e "$SLURM_CONF" ] || return 0
    timeout 5 scancel --user="$(id -un)" 2>/dev/null || true
    end slurmd.pid
    end slurmctld.pid
    end munged.pid
}

# Prints the processes below those given, and these themselves.
with_children() { # pid...
    local pid
    for pid; do
        echo "$pid"
        # shellcheck disable=SC2046 # a list of numbers
        with_children $(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
    done
}

# Prints the step managers of this cluster: the parents of the jobs' processes.
step_managers() {
    local comm pid
    for comm in $(grep -lx slurmstepd /proc/[0-9]*/comm 2>/dev/null); do
        pid=${comm//[^0-9]/}
        if tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qxF "SLURM_CONF=$dir/slurm.conf"; then echo "$pid"; fi
    done
}

# The node goes as in a power cut: the daemon, its step managers and all that they
# run. slurmctld sees to the rest. A step manager that the daemon has just started
# is on its way to its name and would run its job to the end: hence several looks.
kill_node() {
    kill -KILL "$(cat "$dir/slurmd.pid")"
    rm -f "$dir/slurmd.pid"
    for _ in 1 2 3 4 5; do
        # shellcheck disable=SC2046 # a list of numbers
        kill -KILL $(with_children $(step_managers)) 2>/dev/null || true # none runs
        sleep 0.1
    done
}

[ $# -ge 1 ] || die 'say start DIR, stop DIR or check'
if [ "$1" = check ]; then check; exit; fi
[ $# -eq 2 ] || die "say $1 DIR"
mkdir -p "$2"
dir=$(cd "$2" && pwd)
case $1 in
start) start ;;
stop) stop ;;
kill-node) kill_node ;;
node) node ;; # again, after it was killed
controller) # restarted, as on a software update
    end slurmctld.pid
    slurmctld -f "$dir/slurm.conf" 2>>"$dir/slurmctld.log"
    ;;
*) die "what is $1? start, stop, check" ;;
esac
