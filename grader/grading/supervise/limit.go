package supervise

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"flashlab/grader/grading/cgroup"
)

// watchEvery is how often a worker's memory is checked. A process takes at most
// about 2 GB a second and core, so it gets little beyond its limit.
var watchEvery = 20 * time.Millisecond

// watchdog ends a worker that takes too much memory. RLIMIT_AS would not do: Go
// and CUDA reserve far more address space than they ever use. A control group,
// where there is one, does it faster than any look.
type watchdog struct {
	limit    int64 // bytes
	group    *cgroup.Group
	exceeded atomic.Bool
	stop     chan struct{}
}

// newWatchdog prepares for a worker with a limit; 0 is none.
func newWatchdog(limit int64) *watchdog {
	d := &watchdog{limit: cgroup.Affordable(limit), stop: make(chan struct{})}
	if limit > 0 {
		d.group = cgroup.New(cgroup.Limits{Memory: d.limit, Processes: cgroup.Threads()})
	}
	return d
}

// watch looks after a process and all its descendants until it is released.
func (d *watchdog) watch(pid int) {
	if d.limit > 0 {
		d.group.Add(pid) // a sandbox has already joined it
		go d.run(pid)
	}
}

// release is for when the process has ended: its number may soon be another's.
func (d *watchdog) release() {
	close(d.stop)
	if d.group.OutOfMemory() {
		d.exceeded.Store(true)
	}
	d.group.Remove()
}

func (d *watchdog) run(pid int) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-d.stop:
			return
		case <-tick.C:
		}
		if cgroup.Taken(pid) > d.limit {
			d.exceeded.Store(true)
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			return
		}
	}
}

// why says that the limit was passed; "" if it was not.
func (d *watchdog) why() string {
	if !d.exceeded.Load() {
		return ""
	}
	return fmt.Sprintf("it took more than %s of memory, so it was stopped: does it allocate without end, or keep what it no longer needs?", gigabytes(d.limit))
}

func gigabytes(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'g', 3, 64) + " GB"
}
