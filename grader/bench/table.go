// Package bench lists what is timed of the reference solutions: workloads, ladders of versions, and mistakes of
// measuring.
package bench

import (
	"flashlab/grader/grading/race"
	"flashlab/grader/tasks/b1"
	"flashlab/grader/tasks/b2"
	"flashlab/grader/tasks/b3"
	"flashlab/grader/tasks/b4"
	"flashlab/grader/tasks/b5"
	"flashlab/grader/tasks/b6"
	"flashlab/grader/tasks/b7"
	"flashlab/grader/tasks/b8"
	"flashlab/grader/tasks/registry"
	"flashlab/grader/tasks/task2"
	"flashlab/grader/tasks/task4"
	"flashlab/grader/tasks/task5"
)

// All are the workloads of the reference's table.
func All() []race.Workload {
	all := []race.Workload{
		task2.GemmOf(1, 4096, 4096, 4096, false, "matmul"), task2.GemmOf(1, 4096, 4096, 4096, true, "matmul"),
		task2.GemmOf(128, 1024, 1024, 128, true, "matmul"),
	}
	for n := 1024; n <= 16384; n *= 2 {
		all = append(all, task2.SoftmaxOf((1<<28)/n, n, "softmax"))
	}
	for _, causal := range []bool{false, true} {
		all = append(all, task4.AttentionOf(4, 128, causal, "sdpa", "math", "multihead"))
	}
	for seq := 512; seq <= 8192; seq *= 2 { // for the picture
		all = append(all, task4.AttentionOf(4, seq, false, "sdpa"))
	}
	for _, causal := range []bool{false, true} {
		all = append(all, task4.AttentionOf(64, 4096, causal, "sdpa"))
	}
	for tokens := 1024; tokens <= 32768; tokens *= 2 {
		all = append(all, task5.DecodeOf(16, 32, tokens, "sdpa"))
	}
	all = append(all, task5.SplitOf(4096, 8, "sdpa"), task5.SplitOf(32768, 32, "sdpa"))
	for _, causal := range []bool{false, true} {
		all = append(all, b1.RopeOf(4, 128, causal), b1.RopeOf(16, 512, causal), b1.RopeOf(16, 1024, causal), b1.RopeOf(16, 4096, causal), b1.RopeOf(4, 8192, causal))
	}
	for _, causal := range []bool{false, true} {
		for _, of := range [][]int{{1, 16, 16384, 128}, {4, 32, 4096, 128}, {1, 32, 16384, 64}} {
			all = append(all, b2.HalvesOf(of[0], of[1], of[2], of[3], causal, "flash", "cudnn"),
				b3.BlocksOf(of[0], of[1], of[2], of[3], causal, "sage", "cudnn"))
		}
	}
	for _, of := range [][]int{{1, 128}, {2, 256}, {4, 512}, {8, 1024}} {
		all = append(all, b4.ProjectOf(of[0], of[1]))
	}
	for _, rows := range []int{1, 16} {
		all = append(all, b5.ProjectOf("nf4", rows, 4096, 24, 4), b5.ProjectOf("nf4", rows, 4096, 96, 8), b5.ProjectOf("mxfp4", rows, 4096, 96, 8))
	}
	for _, of := range [][]int{{1, 4096}, {8, 4096}, {64, 4096}, {16, 1024}, {1, 65536}, {16, 32768}} {
		all = append(all, b6.StepOf(of[0], of[1], "flash", "cudnn"), b7.StepOf(8, of[0], of[1]), b7.StepOf(4, of[0], of[1]))
	}
	for _, rows := range []int{1, 16, 64} {
		all = append(all, b8.ProductOf(rows, 4096, 4096), b8.ProductOf(rows, 4096, 14336), b8.ProductOf(rows, 14336, 4096), b8.ProductOf(rows, 8192, 8192))
	}
	return all
}

// VersionWorkloads are what the versions of a task's solution are compared on: one for
// each kind of kernel, and not so large that a textbook's takes minutes.
func VersionWorkloads(task registry.Name) []race.Workload {
	switch task {
	case "2":
		return []race.Workload{task2.GemmOf(1, 2048, 2048, 2048, false), task2.SoftmaxOf(1<<16, 4096)}
	case "4":
		return []race.Workload{task4.AttentionOf(4, 2048, false)}
	case "b1":
		return []race.Workload{b1.RopeOf(4, 1024, false), b1.RopeOf(4, 4096, false)}
	case "b2":
		return []race.Workload{b2.HalvesOf(4, 32, 4096, 128, false), b2.HalvesOf(4, 32, 4096, 128, true)}
	case "b3":
		return []race.Workload{b3.BlocksOf(4, 32, 4096, 128, false), b3.BlocksOf(4, 32, 4096, 128, true)}
	case "b4":
		return []race.Workload{b4.ProjectOf(2, 256), b4.ProjectOf(8, 1024)}
	case "b5":
		return []race.Workload{b5.ProjectOf("nf4", 1, 4096, 96, 8), b5.ProjectOf("mxfp4", 1, 4096, 96, 8)}
	case "b6":
		return []race.Workload{b6.StepOf(1, 4096), b6.StepOf(64, 4096)}
	case "b7":
		return []race.Workload{b7.StepOf(8, 64, 4096), b7.StepOf(4, 64, 4096)}
	case "b8":
		return []race.Workload{b8.ProductOf(1, 4096, 14336), b8.ProductOf(16, 4096, 14336)}
	case "5":
		return []race.Workload{task5.DecodeOf(16, 32, 4096), task5.SplitOf(4096, 8)}
	}
	return nil
}
