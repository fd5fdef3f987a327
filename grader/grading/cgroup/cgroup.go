// Package cgroup bounds what a program takes by the system's control groups,
// version 1 or 2, where the grader may make some.
package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Limits of a group; 0 is none.
type Limits struct {
	Memory    int64 // bytes
	Processes int   // threads among them
}

// Threads is how many threads a program and its children may have: room for those
// that Go and the simulator start, one for each processor.
func Threads() int { return 256 + 8*runtime.NumCPU() }

// Group is one or, in version 1, several folders: each bounds something. A nil
// Group bounds nothing.
type Group struct {
	dirs   []string
	events string // the file in which the system counts whom it ended for their memory
	// What it bounds: what could not be had is left to others.
	Memory, Processes bool
}

var numbered atomic.Int64 // numbers their names

// New makes a group; nil where none of it is allowed.
func New(l Limits) *Group {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	g := &Group{}
	name := fmt.Sprintf("flashlab-%d-%d", os.Getpid(), numbered.Add(1))
	for _, p := range places(string(text), "/sys/fs/cgroup") {
		g.take(p, name, l)
	}
	if len(g.dirs) == 0 {
		return nil
	}
	return g
}

// take makes a folder in a place, if it bounds something that nothing bounds yet.
func (g *Group) take(p place, name string, l Limits) {
	memory, processes := p.memory && l.Memory > 0 && !g.Memory, p.pids && l.Processes > 0 && !g.Processes
	dir := filepath.Join(p.parent, name)
	if !memory && !processes {
		return
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !(errors.Is(err, fs.ErrExist) && slices.Contains(g.dirs, dir)) {
		return
	}
	memory = memory && write(dir, p.limit, l.Memory) == nil
	processes = processes && write(dir, "pids.max", int64(l.Processes)) == nil
	if !memory && !processes {
		_ = os.Remove(dir)
		return
	}
	if memory {
		_ = write(dir, p.swap, l.Memory) // where there is no swap there is no such file
		g.events = filepath.Join(dir, p.events)
	}
	g.Memory, g.Processes = g.Memory || memory, g.Processes || processes
	if !slices.Contains(g.dirs, dir) {
		g.dirs = append(g.dirs, dir)
	}
}

// place is a folder that may hold groups with limits of their own, and the names
// of the files there.
type place struct {
	parent, limit, swap, events string
	memory, pids                bool
}

// places are those of this process: text is its /proc/self/cgroup.
func places(text, mount string) []place {
	var all []place
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		controllers, path := strings.Split(fields[1], ","), fields[2]
		switch {
		case fields[1] == "": // version 2: a group has either processes or limited groups in it, so look beside ours, too
			own := filepath.Join(mount, path)
			for _, dir := range []string{own, filepath.Dir(own)} {
				passed, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
				if err != nil {
					continue
				}
				has := strings.Fields(string(passed))
				all = append(all, place{dir, "memory.max", "memory.swap.max", "memory.events",
					slices.Contains(has, "memory"), slices.Contains(has, "pids")})
			}
		default: // version 1
			for _, c := range controllers {
				all = append(all, place{filepath.Join(mount, c, path), "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control",
					c == "memory", c == "pids"})
			}
		}
	}
	return all
}

func write(dir, file string, n int64) error {
	return os.WriteFile(filepath.Join(dir, file), strconv.AppendInt(nil, n, 10), 0)
}

// Dirs are the folders that a process joins by writing 0 into their cgroup.procs.
func (g *Group) Dirs() []string {
	if g == nil {
		return nil
	}
	return g.dirs
}

// Add puts a process into the group, and tells whether it is in.
func (g *Group) Add(pid int) bool {
	if g == nil {
		return false
	}
	for _, dir := range g.dirs {
		if write(dir, "cgroup.procs", int64(pid)) != nil {
			return false
		}
	}
	return true
}

// OutOfMemory tells whether the system has ended a process for its memory.
func (g *Group) OutOfMemory() bool {
	if g == nil || g.events == "" {
		return false
	}
	text, err := os.ReadFile(g.events)
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

// Gone takes the group away if its processes have ended, and tells whether they
// have.
func (g *Group) Gone() bool {
	if g == nil {
		return true
	}
	gone := true
	for _, dir := range g.dirs {
		if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
			gone = false
		}
	}
	return gone
}

// Remove takes the group away; its processes may take a moment to end.
func (g *Group) Remove() {
	for range 20 {
		if g.Gone() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
