package gradescope

import (
	"os"
	"regexp"
	"strconv"
	"strings"

	"flashlab/grader/tasks/registry"
)

// Memory that a task's simulation needs, in megabytes, where it is more than Gradescope's smallest
// container has. If the container kills a simulator for its memory, it looks like the student's fault,
// so such a task is left out there.
var needs = map[registry.Name]int64{"7": 6000} // the course's model, with a shadow of every byte

var total = regexp.MustCompile(`(?m)^MemTotal:\s+(\d+) kB`)

// Memory is what this container may take, in megabytes; 0 if that cannot be told.
func Memory() int64 {
	least := int64(0)
	take := func(megabytes int64) {
		if megabytes > 0 && (least == 0 || megabytes < least) {
			least = megabytes
		}
	}
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(name); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // or "max"
				take(n >> 20)
			}
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if m := total.FindSubmatch(text); m != nil {
			n, _ := strconv.ParseInt(string(m[1]), 10, 64)
			take(n >> 10)
		}
	}
	return least
}

// TooSmall tells whether a container is too small for a task on the simulator, and what it needs.
func TooSmall(task registry.Name, megabytes int64) (need int64, too bool) {
	need = needs[task]
	return need, megabytes > 0 && megabytes < need
}
