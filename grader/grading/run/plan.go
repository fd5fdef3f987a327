package run

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
)

// plan is what will run: the rubric's checks, or those that were asked for.
type plan struct{ Checks []rubric.Check }

// Plan applies Only, and leaves out what no device here can run.
func (o Options) Plan() (plan, error) {
	if o.Only == "" {
		var p plan
		for _, c := range o.Task.Checks {
			c.Cases = slices.DeleteFunc(slices.Clone(c.Cases), o.needsGPU)
			if o.Few > 0 {
				c.Cases = c.Cases[:min(o.Few, len(c.Cases))]
			}
			p.Checks = append(p.Checks, c)
		}
		return p, nil
	}
	return o.some()
}

// some plans what Only names: a check or a case, or, where there is none of that name, all cases with
// the text in theirs.
func (o Options) some() (plan, error) {
	named := func(c rubric.Check, k rubric.Case) bool { return o.Only == c.ID || o.Only == c.ID+"/"+k.Name }
	holds := func(c rubric.Check, k rubric.Case) bool { return strings.Contains(c.ID+"/"+k.Name, o.Only) }
	for _, fits := range []func(rubric.Check, rubric.Case) bool{named, holds} {
		var p plan
		tooMuch := "" // for what there is here
		for _, c := range o.Task.Checks {
			all := len(c.Cases)
			c.Cases = slices.DeleteFunc(slices.Clone(c.Cases), func(k rubric.Case) bool { return !fits(c, k) })
			whole := len(c.Cases) == all
			if i := slices.IndexFunc(c.Cases, o.needsGPU); i >= 0 {
				tooMuch = c.ID + "/" + c.Cases[i].Name
			}
			if c.Cases = slices.DeleteFunc(c.Cases, o.needsGPU); len(c.Cases) == 0 {
				continue
			}
			c.After = nil // it was asked for by name
			if !whole {
				c.Withheld, c.WithheldWeight = 0, 0 // nothing but this was asked for
			}
			p.Checks = append(p.Checks, c)
		}
		if len(p.Checks) > 0 {
			return p, nil
		}
		if tooMuch != "" {
			return p, fmt.Errorf("the case %s needs a GPU", tooMuch)
		}
	}
	return plan{}, fmt.Errorf("there is no case %q, nor one with this in its name. CASE is a check, or a case of one, as %s\n%s", o.Only, o.example(), o.caseNames())
}

// Several says which cases Only picks where it is no name of a check or a case, but in the names of several; else "".
func (o Options) Several() string {
	p, err := o.Plan()
	if err != nil || o.Only == "" {
		return ""
	}
	var names []string
	for _, c := range p.Checks {
		if c.ID == o.Only {
			return ""
		}
		for _, k := range c.Cases {
			if !k.Hidden {
				names = append(names, c.ID+"/"+k.Name)
			}
		}
	}
	if len(names) < 2 {
		return ""
	}
	const shown = 4
	text := fmt.Sprintf("CASE=%s is in the names of %d cases: %s", o.Only, len(names), strings.Join(names[:min(shown, len(names))], ", "))
	if len(names) > shown {
		text += fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return text
}

// example is a case's whole name.
func (o Options) example() string {
	c := o.Task.Checks[0]
	return c.ID + "/" + c.Cases[0].Name
}

// caseNames are the names that Only may be, a line for each check.
func (o Options) caseNames() string {
	var lines []string
	wide := 0
	for _, c := range o.Task.Checks {
		wide = max(wide, len(c.ID))
	}
	for _, c := range o.Task.Checks {
		line := fmt.Sprintf("  %-*s ", wide, c.ID)
		for _, k := range c.Cases {
			switch {
			case k.Hidden:
				continue
			case len(line)+len(k.Name) > 110:
				lines = append(lines, line)
				line = strings.Repeat(" ", wide+3)
			}
			line += " " + k.Name
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// needsGPU tells whether a case cannot run here because there is no GPU.
func (o Options) needsGPU(k rubric.Case) bool { return k.GPU && o.Devices.Kind != device.CUDA }

func (p plan) cases() int {
	n := 0
	for _, c := range p.Checks {
		n += len(c.Cases)
	}
	return n
}

// WireCase is what a worker is told about a case. Its seed depends only on the grading's and
// on its name, so that it has the same inputs when it runs on its own.
func (o Options) WireCase(op judge.Op, c rubric.Check, k rubric.Case, id int) (problem.Problem, error) {
	w, err := op.Case(judge.SpecOf(k), problem.SeedOf(o.Seed, o.Task.Dir+"/"+c.ID+"/"+k.Name), 0)
	w.ID = id
	return w, err
}

// Again is the command that repeats the run, or one case of it.
func (o Options) Again(name string) string { return o.againAt(name, o.Devices.Show) }

// againAt is the same, with the printf of some threads only.
func (o Options) againAt(name string, show trace.Show) string {
	parts := []string{"make grade", fmt.Sprintf("TASK=%s", o.Task.Name)}
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+"="+value)
		}
	}
	add("SUBMISSION", o.Subject.Submission)
	if !o.Subject.Author { // a student's tree is the variant's
		add("VARIANT", o.Task.Variant)
	}
	if o.Subject.Mutant != "" {
		add("MUTANT", o.Subject.Mutant)
	} else if o.Subject.Solution {
		add("SOLUTION", "1")
		add("VERSION", o.Subject.Version)
	}
	add("CASE", name)
	add("DEVICE", string(o.Devices.Asked))
	add("SEED", fmt.Sprint(o.Seed))
	add("THREAD", index(show.Thread))
	add("BLOCK", index(show.Block))
	return strings.Join(parts, " ")
}
