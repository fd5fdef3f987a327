package nvidia

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names of ncu's counters. docs/gpu.md says what each of them means.
const (
	elapsed       = "gpu__time_duration.sum"
	dramRead      = "dram__bytes_read.sum"
	dramWritten   = "dram__bytes_write.sum"
	dramShare     = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
	smShare       = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
	tensorShare   = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
	adds          = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
	products      = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"
	fused         = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
	occupancy     = "sm__warps_active.avg.pct_of_peak_sustained_active"
	possible      = "sm__maximum_warps_per_active_cycle_pct"
	registers     = "launch__registers_per_thread"
	sharedStatic  = "launch__shared_mem_per_block_static"
	sharedDynamic = "launch__shared_mem_per_block_dynamic"
	blocks        = "launch__grid_size"
	threads       = "launch__block_size"
	waves         = "launch__waves_per_multiprocessor"
	wavefronts    = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
	conflicts     = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
	localRead     = "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"
	limitOf       = "launch__occupancy_limit_"  // and one of limits
	stalled       = "smsp__warp_issue_stalled_" // and one of stalls, and stalledShare
	stalledShare  = "_per_warp_active.pct"
)

// limits are what bounds how many blocks a multiprocessor takes at a time.
var limits = map[string]string{"registers": "registers", "shared_mem": "shared memory", "warps": "threads a block", "blocks": "the most blocks there may be"}

// stalls are the reasons for which warps wait, in words.
var stalls = map[string]string{
	"long_scoreboard":    "for device memory",
	"short_scoreboard":   "for shared memory or a special function",
	"barrier":            "at __syncthreads()",
	"membar":             "for a memory fence",
	"mio_throttle":       "in the queue for shared memory",
	"lg_throttle":        "in the queue for device memory",
	"math_pipe_throttle": "for an arithmetic unit",
	"tex_throttle":       "in the queue for textures",
	"wait":               "a fixed time after the last instruction",
	"not_selected":       "ready, while another warp goes first",
	"no_instruction":     "for the next instruction to be fetched",
	"branch_resolving":   "for a branch",
	"dispatch_stall":     "to be dispatched",
	"drain":              "for stores to finish at the end",
	"imc_miss":           "for a constant",
	"sleeping":           "asleep",
	"gmma":               "for a tensor core",
}

// Metrics are the counters to ask ncu for.
func Metrics() []string {
	names := []string{elapsed, dramRead, dramWritten, dramShare, smShare, tensorShare, adds, products, fused, occupancy, possible, registers,
		sharedStatic, sharedDynamic, blocks, threads, waves, wavefronts, conflicts, localRead}
	for l := range limits {
		names = append(names, limitOf+l)
	}
	for s := range stalls {
		names = append(names, stalled+s+stalledShare)
	}
	slices.Sort(names)
	return names
}

// sections are those of ncu's own report that its window shows.
var sections = []string{"SpeedOfLight", "MemoryWorkloadAnalysis", "WarpStateStats", "Occupancy", "LaunchStats", "SourceCounters"}

// ProfilerArgs are ncu's arguments for keeping a report. The GPU keeps its own clocks: fixed ones
// would give another time than make grade measures. Without kernels, all that are launched count.
func ProfilerArgs(metrics, kernels []string, report, log string, launches int) []string {
	args := []string{"--export", report, "--force-overwrite", "--clock-control", "none", "--target-processes", "application-only",
		"--launch-count", strconv.Itoa(launches), "--metrics", strings.Join(metrics, ","), "--log-file", log}
	if len(kernels) > 0 {
		args = append(args, "--kernel-name", "regex:^("+strings.Join(kernels, "|")+")$")
	}
	for _, s := range sections {
		args = append(args, "--section", s)
	}
	return args
}

// TableArgs are ncu's arguments for printing a report's table.
func TableArgs(report string) []string {
	return []string{"--import", report, "--csv", "--print-units", "base", "--page", "details"}
}

// unknown is how ncu names a counter that the GPU does not have.
var unknown = regexp.MustCompile(`(?i)(?:failed to find metric|metrics? not found:?|invalid metric:?|unsupported metric:?)\s+(?:regex:\^?)?["']?([a-z0-9_.]+)`)

// Unknown lists counters that ncu does not know on this GPU.
func Unknown(log string) []string {
	var names []string
	for _, m := range unknown.FindAllStringSubmatch(log, -1) {
		names = append(names, strings.TrimSuffix(m[1], "."))
	}
	return names
}

// Launch is what was counted of one launch of a kernel.
type Launch struct {
	Kernel string
	Values map[string]float64
}

// Launches reads ncu's log: its own words, and a table in CSV with a row for each
// launch and counter.
func Launches(log string) ([]Launch, error) {
	var rows []string
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, `"`) {
			rows = append(rows, line)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("ncu counted nothing: %s", trouble(log))
	}
	reader := csv.NewReader(strings.NewReader(strings.Join(rows, "")))
	reader.FieldsPerRecord = -1 // only ncu's own advice fills the last columns
	table, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("ncu's table: %w", err)
	}
	at := map[string]int{}
	for i, name := range table[0] {
		at[name] = i
	}
	for _, name := range []string{"ID", "Kernel Name", "Metric Name", "Metric Value"} {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("ncu's table has no column %q: is it a version of 2020 or before?", name)
		}
	}
	var launches []Launch
	byID := map[string]int{}
	for _, row := range table[1:] {
		if len(row) <= at["Metric Value"] {
			return nil, fmt.Errorf("ncu's table has a row that ends early: %q", row)
		}
		id := row[at["ID"]]
		if _, ok := byID[id]; !ok {
			name, _, _ := strings.Cut(row[at["Kernel Name"]], "(")
			byID[id] = len(launches)
			launches = append(launches, Launch{Kernel: name, Values: map[string]float64{}})
		}
		value, err := strconv.ParseFloat(strings.ReplaceAll(row[at["Metric Value"]], ",", ""), 64)
		if err != nil {
			continue // "n/a"
		}
		launches[byID[id]].Values[row[at["Metric Name"]]] = value
	}
	return launches, nil
}

// trouble is what ncu says instead of a table, in words where we have them.
func trouble(log string) string {
	if strings.Contains(log, "ERR_NVGPUCTRPERM") {
		return "the driver of this machine lets only its administrators read the GPU's counters. On a cluster ask for it (many have a " +
			"switch for a job: --constraint or --gres=…:profiling); on a machine of your own see docs/gpu.md"
	}
	if strings.Contains(log, "No kernels were profiled") {
		return "no kernel was launched"
	}
	var lines []string
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "==ERROR==") || strings.HasPrefix(line, "==WARNING==") {
			lines = append(lines, strings.TrimSpace(strings.TrimLeft(line[2:], "EROWANIG=")))
		}
	}
	if len(lines) == 0 {
		return "and it gave no reason"
	}
	return strings.Join(lines, "\n")
}
