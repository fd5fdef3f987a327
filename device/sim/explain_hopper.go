package sim

import "fmt"

// hopperHints are what to do about findings on Hopper's instructions, by kind.
var hopperHints = map[string]string{
	"no proxy fence":     "fence.proxy.async behind the writes (fence.mbarrier_init behind mbarrier.init), then a barrier, then the copy or the product",
	"sums on their way":  "wgmma.commit_group, then wgmma.wait_group 0, then use the sums",
	"not committed":      "wgmma.wait_group and cp.async.bulk.wait_group wait for committed groups only: commit_group comes before",
	"no wgmma.fence":     "wgmma.fence before the first wgmma.mma_async, and wherever other code has written its registers",
	"stale phase":        "a phase bit flips each time a barrier has been waited for: round i of a ring of n stages waits for parity i / n % 2",
	"transaction bytes":  "arrive.expect_tx has to announce the bytes of all boxes that will come in this phase, also of the parts that lie outside the tensor",
	"too many arrivals":  "mbarrier.init says how many arrive in a phase: each arrive and each arrive.expect_tx counts one",
	"wrong swizzle":      "bits 62 and 63 of a descriptor are 1 for 128 bytes, 2 for 64, 3 for 32, and 0 for none, as in the tensor map",
	"two copies":         "wait for the first copy, and until its data has been used, before the next is asked for",
	"changed on its way": "cp.async.bulk.wait_group.read 0 before the memory is written again, then a barrier",
	"too many registers": "setmaxnreg.dec in some warps makes room for setmaxnreg.inc in others: 65536 registers in all",
	"no mbarrier":        "one thread does mbarrier.init, and a fence, before __syncthreads()",
	"bad descriptor":     "bits 0 to 13 are the address, 16 to 29 and 32 to 45 the two distances, all divided by 16",
}

// explainHopper puts findings on Hopper's instructions into words; it returns false for others.
func (d *Device) explainHopper(f *explained, raw rawFinding, m *module, what, who string) bool {
	hint, ok := hopperHints[raw.Kind]
	if !ok {
		return false
	}
	f.Hint, f.Message = hint, raw.Text
	other := raw.OtherLine
	if raw.OtherPC != 0 {
		_, at := d.place(raw.Module, raw.OtherPC)
		other = at.line
	}
	there := fmt.Sprintf("%s:%d", m.source.Name, other)
	f.otherLine = other
	switch {
	case raw.Kind == "no proxy fence" && raw.PC != 0:
		f.Message = fmt.Sprintf("%s goes to %s without fence.proxy.async", what, raw.Text)
		f.Notes = append(f.Notes, fmt.Sprintf("thread %s wrote it at %s, %s takes it at %s:%d", triple(raw.OtherThread), there, raw.Text, m.source.Name, f.Line))
	case raw.Kind == "sums on their way", raw.Kind == "not committed" && raw.Text == "":
		f.Message = "sums of wgmma are " + map[string]string{"read": "read", "write": "written"}[raw.Op] + " before wgmma.wait_group says that they are there"
		if raw.Op == "" {
			f.Message = "sums of wgmma that nobody waited for, or that were written before"
		}
		if raw.Kind == "not committed" {
			f.Message += ": they are in no group, for want of wgmma.commit_group"
		}
		f.Notes = append(f.Notes, "the product at "+there+" fills them")
	case raw.Kind == "stale phase":
		f.Message = opWord(raw.Op) + " of what a copy has yet to fill, or fills now: " + what
		f.Notes = append(f.Notes, raw.Text, "the copy was asked for at "+there)
	case raw.Kind == "two copies":
		f.Message = "a second copy into memory that another one is still filling: " + what
		if other > 0 {
			f.Notes = append(f.Notes, "the first was asked for at "+there)
		}
	case raw.Kind == "changed on its way":
		f.Message = "a bulk copy sends memory that is written before it has been read: " + what
		f.Notes = append(f.Notes, fmt.Sprintf("thread %s wrote it at %s", triple(raw.OtherThread), there))
	case raw.Kind == "wrong swizzle":
		f.Notes = append(f.Notes, "it was copied in at "+there)
	}
	if raw.Check == "synccheck" && raw.PC == 0 {
		who = "in block " + triple(raw.Block)
	}
	f.Notes = append(f.Notes, who)
	return true
}

// explainBulk is a bulk copy that nobody waited for, or not yet.
func (d *Device) explainBulk(f *explained, raw rawFinding, what, who string) {
	f.Message, f.Hint = raw.Text, "who uses what a bulk copy brings waits for its mbarrier's phase; who sends ends with cp.async.bulk.wait_group 0"
	if raw.OtherPC == 0 {
		f.Notes = append(f.Notes, who)
		return
	}
	f.Message = opWord(raw.Op) + " of what a bulk copy has yet to fill: " + what
	f.reads = true
	_, at := d.place(raw.Module, raw.OtherPC)
	f.otherLine = at.line
	f.Notes = append(f.Notes, fmt.Sprintf("thread %s asked for the copy at line %d", triple(raw.OtherThread), at.line), "first by "+who)
}
