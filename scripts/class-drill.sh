#!/bin/sh
# Grades a synthetic class twice, once left alone and once killed at random moments, and compares:
#   scripts/class-drill.sh [SUBMISSIONS] [TASKS] [KILLS]
# Both start with what is compiled already; for a measurement run it on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/.."
n=${1:-60} tasks=${2:-1,2,3,4} kills=${3:-10}
class=out/drill
rm -rf "$class"
go build -o out/bin/grader ./grader
out/bin/grader class "$class" -n "$n" -tasks "$tasks"
batch() { out/bin/grader batch "$class/submissions" -course "$class/course.toml" -o "$1"; }

# The course itself is compiled for the sandbox once; that is not part of a submission's time.
mkdir -p "$class/first/submissions"
cp -r "$class"/submissions/s001* "$class/first/submissions"
out/bin/grader batch "$class/first/submissions" -tasks "$tasks" -o "$class/first/graded" > /dev/null

began=$(date +%s)
batch "$class/alone"
took=$(($(date +%s) - began + 1))
echo "$n submissions in $took s: $((n * 3600 / took)) an hour"
out/bin/grader class "$class" -check "$class/alone"

i=0
while [ $i -lt "$kills" ]; do
	i=$((i + 1))
	setsid out/bin/grader batch "$class/submissions" -course "$class/course.toml" -o "$class/killed" > /dev/null 2>&1 &
	sleep "$(awk -v s="$i$$" -v most="$((took / kills + 1))" 'BEGIN { srand(s); print rand() * most }')"
	kill -KILL -- "-$!" 2> /dev/null || true
	wait $! 2> /dev/null || true
done
batch "$class/killed"
cmp "$class/alone/gradebook.csv" "$class/killed/gradebook.csv"
echo "killed $kills times: the same gradebook"
