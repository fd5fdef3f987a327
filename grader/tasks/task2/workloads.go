package task2

import (
	"fmt"

	"flashlab/grader/grading/race"
)

func GemmOf(batch, m, n, k int, transB bool, peers ...string) race.Workload {
	op, kind := "gemm_nn", "NN"
	if transB {
		op, kind = "gemm_nt", "NT"
	}
	name := fmt.Sprintf("product %s, %d × %d × %d", kind, m, k, n)
	if batch > 1 {
		name = fmt.Sprintf("product %s, %d of %d × %d × %d", kind, batch, m, k, n)
	}
	return race.Workload{Name: name, ID: fmt.Sprintf("%s-%d-%d-%d-%d", op, batch, m, k, n), Task: "2", Op: op,
		Shape: []int{batch, m, n, k}, Peers: peers}
}

func SoftmaxOf(rows, n int, peers ...string) race.Workload {
	return race.Workload{Name: fmt.Sprintf("softmax, %d rows of %d", rows, n), ID: fmt.Sprintf("softmax-%d-%d", rows, n), Task: "2", Op: "softmax", Traffic: true,
		Shape: []int{rows, n, 1}, Peers: peers}
}
