package host

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// watchEvery is how often a worker's memory is looked at. A process takes some
// 2 GB a second and core at most, so it gets little beyond its limit.
var watchEvery = 20 * time.Millisecond

// watchdog ends a worker that takes too much memory. RLIMIT_AS would not do: Go
// and CUDA reserve far more address space than they ever use.
type watchdog struct {
	limit  int64 // bytes
	group  *cgroup
	barked atomic.Bool
	stop   chan struct{}
}

// watch looks after a process group until it is released; 0 is no limit.
func watch(pid int, limit int64) *watchdog {
	d := &watchdog{limit: affordable(limit), stop: make(chan struct{})}
	if limit > 0 {
		if d.group = newCgroup(d.limit); !d.group.add(pid) {
			d.group.remove()
			d.group = nil
		}
		go d.run(pid)
	}
	return d
}

// release is for when the process has ended: its number may soon be another's.
func (d *watchdog) release() {
	close(d.stop)
	if d.group.ended() {
		d.barked.Store(true)
	}
	d.group.remove()
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
		if taken(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:", "VmSwap:") > d.limit {
			d.barked.Store(true)
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			return
		}
	}
}

// why says that the limit was passed; "" if it was not.
func (d *watchdog) why() string {
	if !d.barked.Load() {
		return ""
	}
	return fmt.Sprintf("it took more than %s of memory, so it was stopped: does it allocate without end, or keep what it no longer needs?", gigabytes(d.limit))
}

// affordable is a limit that leaves half of the machine to others.
func affordable(limit int64) int64 {
	if all := taken("/proc/meminfo", "MemTotal:"); all > 0 {
		return min(limit, all/2)
	}
	return limit
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

func gigabytes(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'g', 3, 64) + " GB"
}
