package judge

import (
	"fmt"

	"flashlab/grader/grading/rubric"
)

// SpecOf is a rubric's case as an operation takes it.
func SpecOf(k rubric.Case) Spec {
	return Spec{Shape: k.Shape, Dist: k.Dist, Causal: k.Causal, Each: k.Each, Refused: k.Refused}
}

// Check refuses a rubric whose checks name no operation, or whose cases do not fit theirs.
func (all Ops) Check(t *rubric.Task) error {
	for _, c := range t.Checks {
		if err := all.check(c); err != nil {
			return fmt.Errorf("%s/rubric.toml: check %q: %w", t.Dir, c.ID, err)
		}
	}
	return nil
}

func (all Ops) check(c rubric.Check) error {
	op, err := all.Find(c.Op)
	if err != nil {
		return err
	}
	for _, k := range c.Cases {
		if _, err := op.Case(SpecOf(k), 0, 0); err != nil {
			return fmt.Errorf("case %q: %w", k.Name, err)
		}
	}
	for _, r := range c.Ladder {
		timed, err := all.Find(r.OpOf(c))
		if err != nil {
			return err
		}
		if _, err := timed.TimedCase(timed.TimedSpec(r.Shape, r.Causal)); err != nil {
			return fmt.Errorf("timed %v: %w", r.Shape, err)
		}
	}
	return nil
}
