package reference

import (
	"fmt"
	"math"
)

// Compare tells how far the ratios of a new run are from those of the task's run that
// is kept: the same bench twice should give the same.
func (d Document) Compare(p Part) string {
	for _, old := range d.Parts {
		if old.Task != p.Task {
			continue
		}
		var worst float64
		where, n := "", 0
		for _, r := range p.Rows {
			for i := range old.Rows {
				if old.Rows[i].ID != r.ID {
					continue
				}
				for _, e := range r.Entries[min(1, len(r.Entries)):] {
					before := old.Rows[i].Entry(e.Name)
					if before == nil {
						continue
					}
					was, is := old.Rows[i].Ratio(*before), r.Ratio(e)
					if was.N == 0 || is.N == 0 {
						continue
					}
					n++
					if apart := math.Abs(is.Median/was.Median - 1); apart >= worst {
						worst, where = apart, fmt.Sprintf("%s beside %s: %.3f and %.3f", r.ID, e.Name, was.Median, is.Median)
					}
				}
			}
		}
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("Beside the run of %s (commit %s): %d medians of ratios, at most %.1f %% apart (%s)",
			old.Date.UTC().Format("2 January 2006, 15:04 UTC"), known(old.Commit), n, 100*worst, where)
	}
	return ""
}
