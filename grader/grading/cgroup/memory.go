package cgroup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Affordable is a limit of memory that leaves half of the machine to others.
func Affordable(limit int64) int64 {
	if all := taken("/proc/meminfo", "MemTotal:"); all > 0 {
		return min(limit, all/2)
	}
	return limit
}

// Taken is the memory, in bytes, that a process and all that came of it take:
// what several of them share counts for each.
func Taken(pid int) int64 {
	sum := taken(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:", "VmSwap:")
	for _, child := range children(pid) {
		sum += Taken(child)
	}
	return sum
}

// children of all of a process's threads. No Glob: it would list each thread's folder, too, and a watchdog
// asks fifty times a second.
func children(pid int) (found []int) {
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	threads, _ := os.ReadDir(tasks)
	for _, thread := range threads {
		text, _ := os.ReadFile(filepath.Join(tasks, thread.Name(), "children"))
		for _, field := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// taken adds up lines like "VmRSS:  1234 kB" of a file; 0 where there is none.
func taken(file string, names ...string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	var sum int64
	for line := range bytes.Lines(text) {
		for _, name := range names {
			rest, ok := bytes.CutPrefix(line, []byte(name))
			if !ok {
				continue
			}
			kilobytes, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			sum += kilobytes << 10
		}
	}
	return sum
}
