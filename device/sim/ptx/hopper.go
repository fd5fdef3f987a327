package ptx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// inShared tells whether an address is a shared one, of the block or of its cluster.
func (i *inst) inShared() bool {
	return i.shared() || i.has("shared::cluster")
}

const line = "__builtin_LINE()"

// mbarrier is what happens to barriers in shared memory.
func mbarrier(i *inst) string {
	if len(i.parts) < 2 {
		return i.refuse("it needs an operation, such as mbarrier.init")
	}
	at := func(n int) string { return i.address(n, i.inShared()) }
	switch i.parts[1] {
	case "init":
		i.count(2)
		return "simt_mbarrier_init(" + at(0) + ", " + i.as(1, "u32") + ", " + line + ");"
	case "inval":
		i.count(1)
		return "simt_mbarrier_inval(" + at(0) + ", " + line + ");"
	case "expect_tx":
		i.count(2)
		return "simt_mbarrier_expect(" + at(0) + ", " + i.as(1, "u32") + ", " + line + ");"
	case "complete_tx":
		i.count(2)
		return "simt_mbarrier_complete(" + at(0) + ", " + i.as(1, "u32") + ", " + line + ");"
	case "arrive", "arrive_drop":
		return i.arrive()
	case "pending_count":
		return i.refuse("count the arrivals yourself")
	case "try_wait", "test_wait":
		if !i.count(3, 4) {
			return ""
		}
		parity, want := "0", i.as(2, "u64")
		if i.has("parity") {
			parity, want = "1", i.as(2, "u32")
		}
		return i.put("(bool)simt_mbarrier_wait(" + at(1) + ", " + want + ", " + parity + ", " + line + ")")
	}
	return i.refuse("init, inval, expect_tx, complete_tx, arrive, arrive_drop, try_wait and test_wait are served")
}

// arrive may announce bytes, and leaves the state behind, unless nobody wants it.
func (i *inst) arrive() string {
	drops := "0"
	if i.parts[1] == "arrive_drop" {
		drops = "1"
	}
	args, state := i.args, true
	if len(args) > 0 && strings.HasPrefix(strings.TrimSpace(args[0]), "[") {
		state = false
		i.args = append([]string{"_"}, args...)
	}
	expects := i.has("expect_tx")
	if expects && !i.count(3) || !expects && !i.count(2, 3) {
		return ""
	}
	arrivals, bytes := "1u", "0u"
	switch {
	case expects:
		bytes = i.as(2, "u32")
	case len(i.args) == 3:
		arrivals = i.as(2, "u32")
	}
	if i.has("noComplete") {
		return i.refuse("arrive without .noComplete")
	}
	call := fmt.Sprintf("simt_mbarrier_arrive(%s, %s, %s, %s, %s)", i.address(1, i.inShared()), arrivals, bytes, drops, line)
	if !state {
		return call + ";"
	}
	return i.put(call)
}

// barrier is bar and barrier: the block's sixteen, the warp's, the cluster's.
func barrier(i *inst) string {
	served := "sync and arrive of a barrier and a count of threads, and red of barrier 0, are served"
	switch {
	case i.has("warp"):
		return "__syncwarp(" + i.as(0, "b32") + ");"
	case i.has("cluster") && i.has("wait"):
		return "simt_cluster_wait(" + line + ");"
	case i.has("cluster") && i.has("arrive"):
		releases := "1"
		if i.has("relaxed") {
			releases = "0"
		}
		return "simt_cluster_arrive(" + releases + ", " + line + ");"
	case i.has("red"):
		return i.reduce(served)
	case i.has("sync") && len(i.args) == 1 && i.raw(0) == "(long long)0":
		return "__syncthreads();"
	case i.has("sync") && len(i.args) == 1:
		return "simt_named_barrier(" + i.as(0, "u32") + ", 0u, 1, " + line + ");"
	case i.has("sync") && i.count(2):
		return "simt_named_barrier(" + i.as(0, "u32") + ", " + i.as(1, "u32") + ", 1, " + line + ");"
	case i.has("arrive") && i.count(2):
		return "simt_named_barrier(" + i.as(0, "u32") + ", " + i.as(1, "u32") + ", 0, " + line + ");"
	}
	return i.refuse(served)
}

// reduce is bar.red: all threads meet and vote.
func (i *inst) reduce(served string) string {
	if len(i.args) != 3 || i.raw(1) != "(long long)0" {
		return i.refuse(served)
	}
	for _, op := range []string{"popc", "and", "or"} {
		if i.has(op) {
			name := "__syncthreads_" + strings.Replace(op, "popc", "count", 1)
			if op == "popc" {
				return i.put("(unsigned)" + name + "(" + i.as(2, "pred") + ")")
			}
			return i.put("(bool)" + name + "(" + i.as(2, "pred") + ")")
		}
	}
	return i.refuse("popc, and, or are served")
}

func fence(i *inst) string {
	switch {
	case i.has("mbarrier_init"):
		return "simt_fence_mbarrier_init();"
	case i.has("proxy") && (i.has("async") || i.has("async::generic") || i.has("async.global") || i.has("async.shared::cta")):
		return "simt_fence_proxy();"
	case i.has("proxy") && !i.has("alias"):
		return i.refuse("tensor maps are made by Go, before the launch")
	case i.has("cta"):
		return "__threadfence_block();"
	}
	return "__threadfence();"
}

// setRegisters is setmaxnreg, which here is only checked.
func setRegisters(i *inst) string {
	if !i.count(1) {
		return ""
	}
	more := "0"
	switch {
	case i.has("inc"):
		more = "1"
	case !i.has("dec"):
		return i.refuse("it is setmaxnreg.inc or setmaxnreg.dec")
	}
	if n, err := strconv.Atoi(strings.TrimSpace(i.arg(0))); err == nil && (n < 24 || n > 256 || n%8 != 0) {
		return i.refuse("it takes a multiple of 8 from 24 to 256")
	}
	return "simt_setmaxnreg(" + i.raw(0) + ", " + more + ", " + line + ");"
}

// mapAddress is mapa: the same place in the shared memory of another block of the cluster. A
// shared address has an offset and a rank, a generic one is a pointer.
func mapAddress(i *inst) string {
	if !i.count(3) {
		return ""
	}
	if i.inShared() {
		return i.put("simt_map_offset(" + i.as(1, "u32") + ", " + i.as(2, "u32") + ", " + line + ")")
	}
	return i.put("(unsigned long long)simt_map_shared((const void *)" + i.as(1, "u64") + ", " + i.as(2, "u32") + ", " + line + ")")
}

// rankOf is getctarank: of the block whose shared memory it is.
func rankOf(i *inst) string {
	if !i.count(2) {
		return ""
	}
	p := "(const void *)" + i.as(1, "u64")
	if i.inShared() {
		p = "simt_shared_address(" + i.as(1, "u32") + ")"
	}
	return i.put("simt_shared_rank(" + p + ", " + line + ")")
}

// storeAsync is st.async: bytes that an mbarrier of the same block counts.
func (i *inst) storeAsync() string {
	if !i.has("shared::cluster") || !i.has("mbarrier::complete_tx::bytes") || !i.count(3) {
		return i.refuse("to .shared::cluster with .mbarrier::complete_tx::bytes is served")
	}
	n := 1
	for _, p := range i.parts {
		if p == "v2" || p == "v4" {
			n = int(p[1] - '0')
		}
	}
	t, from := i.t(), i.list(1)
	if len(from) != n {
		return i.refuse(fmt.Sprintf("its vector has %d registers, not %d", n, len(from)))
	}
	var values []string
	for _, name := range from {
		values = append(values, asType(i.value(name), t))
	}
	return fmt.Sprintf("simt::ptx::storeAsync<%s, %d>(%s, {{%s}}, %s);", types[t], n, i.address(0, true), strings.Join(values, ", "), i.address(2, true))
}

var label = regexp.MustCompile(`^([A-Za-z_$][\w$]*)\s*:(?:[^:]|$)`)
var labels = regexp.MustCompile(`(?:^|[^\w$%.:])([A-Za-z_$][\w$]*)\s*:(?:[^:]|$)`)

// jump is bra to a label of the same asm.
func jump(i *inst) string {
	i.only("uni")
	if !i.count(1) {
		return ""
	}
	to, ok := i.scope.labels[strings.TrimSpace(i.arg(0))]
	if !ok && i.err == nil {
		i.err = fmt.Errorf("inline PTX: bra %s: there is no such label in this asm", short(i.arg(0)))
	}
	return "goto " + to + ";"
}
