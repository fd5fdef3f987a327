package judge

import (
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Shapes describes a case by its inputs: "q [1, 2, 3, 4], k [1, 2, 3, 4]".
type Shapes struct{ problem.Problem }

func (s Shapes) String() string {
	text := ""
	for i, t := range s.Inputs {
		if i > 0 {
			text += ", "
		}
		text += t.Name + " " + tensor.ShapeString(t.Shape)
	}
	if s.Causal {
		text += ", causal"
	}
	return text
}
