package b9

import (
	"embed"
	"encoding/json"
	"fmt"
)

// What `make ways` wrote on one H200, for the workloads of the sheet: batch × tokens, half of which are new
// where there are 768 on average.
//
//go:embed measured/*.json
var fives embed.FS

// gains are how many times as fast a step became, in the order of a sheet: plain attention → ours, ours → KIVI's
// cache, ours → INT4 weights, ours → both. ok is false for a workload that was not measured.
func gains(batch, tokens int) (g [4]float64, ok bool) {
	text, err := fives.ReadFile(fmt.Sprintf("measured/%dx%d.json", batch, tokens))
	if err != nil {
		return g, false
	}
	var run struct {
		Results []struct {
			Way  struct{ Name string }
			Each struct{ Median float64 } // of the times between tokens, seconds
		}
	}
	if err := json.Unmarshal(text, &run); err != nil {
		return g, false
	}
	times := map[string]float64{}
	for _, r := range run.Results {
		times[r.Way.Name] = r.Each.Median
	}
	ours := times["our attention"]
	for i, t := range []float64{times["halves"], times["+ KIVI cache"], times["+ W4A16 weights"], times["all"]} {
		switch {
		case t <= 0 || ours <= 0:
			return g, false
		case i == 0:
			g[i] = t / ours
		default:
			g[i] = ours / t
		}
	}
	return g, true
}

// beside is a sheet's rows, with what was measured beside each prediction.
func beside(workload int, sheet []float32) (rows [][]string) {
	w := workloads[workload]
	measured, ok := gains(w.batch, w.tokens)
	for i, part := range []string{"Attention", "KIVI", "INT4", "All"} {
		row := []string{fmt.Sprintf("%d × %d tokens: %s", w.batch, w.tokens, part), "–", "–", "", "–"}
		if i < 3 {
			row[1], row[2] = fmt.Sprintf("%.3f", sheet[3*i]), fmt.Sprintf("%.2f ×", sheet[3*i+1])
			row[3] = fmt.Sprintf("%.3f ×", sheet[3*i+2])
		} else {
			row[3] = fmt.Sprintf("%.3f ×", sheet[9])
		}
		if ok {
			row[4] = fmt.Sprintf("%.2f ×", measured[i])
		}
		rows = append(rows, row)
	}
	return rows
}
