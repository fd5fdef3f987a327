package sim

import "fmt"

// explainCluster puts findings on blocks of a cluster into words; it returns false for others.
func (d *Device) explainCluster(f *explained, raw rawFinding, m *module, what, who string) bool {
	switch raw.Kind {
	case "not begun":
		f.Message = fmt.Sprintf("%s of a neighbour's memory before it may have begun: %s", opWord(raw.Op), what)
		f.Notes = append(f.Notes, "no barrier of the cluster lies behind "+who)
		f.Hint = "cluster.sync() first: only then do all blocks of the cluster run, and what they wrote before it is there"
	case "may have ended":
		f.Message = fmt.Sprintf("%s of a neighbour's memory, which ends with its block: %s", opWord(raw.Op), what)
		f.otherLine = raw.OtherLine
		if raw.OtherLine > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("that block's last barrier of the cluster is in %s:%d: behind it the block may return", m.source.Name, raw.OtherLine))
		}
		f.Notes = append(f.Notes, who)
		f.Hint = "cluster.sync() behind the last use of a neighbour's shared memory"
	case "bad rank":
		f.Message = raw.Text
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = "cluster.num_blocks() says how many there are; a neighbour to the right is (rank + 1) % num_blocks"
	default:
		return false
	}
	return true
}
