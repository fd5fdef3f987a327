// Command task4 runs a submission of task 4 for the grader.
package main

import (
	"flashlab/device"
	"flashlab/grader/grading/worker"
	flash "flashlab/task4_flash"
)

func main() {
	attention := worker.Attention(worker.Once(flash.New))
	worker.Main(map[string]worker.Op{
		"flash":        attention,
		"flash_window": attention,
		"tune": worker.Tiled(func(q device.Queue, queries, keys int) (*flash.Flash, error) {
			return flash.NewTiled(q, flash.Tiles{Queries: queries, Keys: keys})
		}),
	})
}
