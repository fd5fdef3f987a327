#!/usr/bin/env bash
# Grades the class that class-drill.sh has left in out/drill once more, as a Slurm's array of jobs.
# Midway the one node of that Slurm is killed, and comes back. The gradebook must be the same:
#   scripts/class-drill.sh 60 && scripts/slurm-drill.sh [AFTER]
# The node is lost once AFTER (a third) of the submissions have their result.
set -euo pipefail
cd "$(dirname "$0")/.."
class=out/drill
[ -s $class/alone/gradebook.csv ] || { echo 'slurm-drill: run scripts/class-drill.sh first' >&2; exit 1; }
cluster=$(mktemp -d)
trap 'scripts/slurm-cluster.sh stop "$cluster" >/dev/null 2>&1; rm -rf "$cluster"' EXIT
eval "$(CPUS=$(nproc) scripts/slurm-cluster.sh start "$cluster")"

rm -rf $class/slurm
log=$class/slurm.log
began=$(date +%s)
out/bin/grader batch $class/submissions -course $class/course.toml -o $class/slurm \
	-slurm gres=,cpus=1,mem=1G,time=20 >$log 2>&1 &
grading=$!
after=${1:-$(($(find $class/submissions -mindepth 1 -maxdepth 1 | wc -l) / 3))}
until grep -q "^$after/" $log; do
	kill -0 $grading 2>/dev/null || { cat $log; exit 1; }
	sleep 1
done
echo "after $after submissions: the node is killed, with $(squeue -h -t RUNNING | wc -l) jobs running"
scripts/slurm-cluster.sh kill-node "$cluster"
until sinfo -h -o %T | grep -q '^down'; do sleep 1; done
echo "$(($(date +%s) - began)) s: Slurm has seen the loss; the node comes back"
scripts/slurm-cluster.sh controller "$cluster"
scripts/slurm-cluster.sh node "$cluster"
wait $grading || { cat $log; exit 1; }
grep -E 'lost|again|array tasks' $log
cmp $class/alone/gradebook.csv $class/slurm/gradebook.csv
out/bin/grader class $class -check $class/slurm
echo "$(($(date +%s) - began)) s in all, with a node lost midway: the same gradebook"
