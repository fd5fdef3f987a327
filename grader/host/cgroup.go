package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// cgroup is a control group that bounds a worker's memory: the system itself ends
// what passes the limit, however fast. Where we may make none, the watchdog does
// it alone.
type cgroup struct {
	dir    string
	events string // the file in which the system counts whom it ended
}

var cgroups atomic.Int64 // numbers their names

// newCgroup makes a group with a limit; nil where that is not allowed.
func newCgroup(limit int64) *cgroup {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil || limit <= 0 {
		return nil
	}
	for _, p := range cgroupPlaces(string(text), "/sys/fs/cgroup") {
		g := &cgroup{filepath.Join(p.parent, fmt.Sprintf("flashlab-%d-%d", os.Getpid(), cgroups.Add(1))), p.events}
		if os.Mkdir(g.dir, 0o755) != nil {
			continue
		}
		if g.write(p.limit, limit) == nil {
			_ = g.write(p.swap, limit) // where there is no swap there is no such file
			return g
		}
		g.remove()
	}
	return nil
}

// cgroupPlace is a folder that may hold groups with a limit of their own, and the
// names of a group's files there.
type cgroupPlace struct{ parent, limit, swap, events string }

// cgroupPlaces are those of this process: text is its /proc/self/cgroup.
func cgroupPlaces(text, mount string) []cgroupPlace {
	var places []cgroupPlace
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		controllers, path := strings.Split(fields[1], ","), fields[2]
		switch {
		case slices.Contains(controllers, "memory"): // version 1
			places = append(places, cgroupPlace{filepath.Join(mount, "memory", path),
				"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control"})
		case fields[1] == "": // version 2: a group has either processes or limited groups in it, so look beside ours, too
			own := filepath.Join(mount, path)
			for _, dir := range []string{own, filepath.Dir(own)} {
				passed, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
				if err == nil && slices.Contains(strings.Fields(string(passed)), "memory") {
					places = append(places, cgroupPlace{dir, "memory.max", "memory.swap.max", "memory.events"})
				}
			}
		}
	}
	return places
}

func (g *cgroup) write(file string, n int64) error {
	return os.WriteFile(filepath.Join(g.dir, file), strconv.AppendInt(nil, n, 10), 0)
}

// add puts a process into the group, and tells whether it is in.
func (g *cgroup) add(pid int) bool { return g != nil && g.write("cgroup.procs", int64(pid)) == nil }

// ended tells whether the system has ended a process for its memory.
func (g *cgroup) ended() bool {
	if g == nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join(g.dir, g.events))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		if n, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			return string(bytes.TrimSpace(n)) != "0"
		}
	}
	return false
}

// remove takes the group away, once its processes are gone.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	for range 20 {
		if err := os.Remove(g.dir); err == nil || os.IsNotExist(err) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
