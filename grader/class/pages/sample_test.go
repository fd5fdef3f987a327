package pages

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
	"flashlab/grader/class/course"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/record"
	"flashlab/grader/class/similar"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// hostile are texts that a student could have the pages show.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`, "\x1b[2J\x1b]0;title\a", "abc\u202etxt.exe", `</style><b>`, `javascript:alert(3)`,
	"Z" + strings.Repeat("\u0336\u035f", 30), "{{.Held}}", "two\r\nlines", "\u2066hidden\u2069 \u009b31m",
}

const classText = `
title = "Attention kernels"
timezone = "UTC"
deadline = "2026-11-10 12:00"
[late]
days = 3
percent = 10.0
[[manual]]
id = "questions"
title = "Written answers"
task = 2
points = 1
`

// sample is a class of n students, drawn from a fixed seed, over the course's own rubrics.
func sample(t *testing.T, n int) Input {
	root, err := repo.Root()
	require.NoError(t, err)
	rubrics, err := rubric.LoadAll(root)
	require.NoError(t, err)
	var have []registry.Name
	for _, one := range rubrics {
		have = append(have, one.Name)
	}
	c, err := course.Parse("course.toml", classText, have)
	require.NoError(t, err)
	class := gradebook.Class{Course: c, Rubrics: rubrics}
	draw := rand.New(rand.NewPCG(1, 2))
	names := []string{"Ada", "Blaise", "Carl", "Dorothea", "Emmy", "Felix", "Grace", "Hedy", "Ida", "Johanna"}
	for i := range n {
		at := time.Date(2026, 11, 9, 8, 17*i, 0, 0, time.UTC)
		r := &record.Record{Student: record.Student{ID: fmt.Sprintf("s%03d", i+1), Name: names[i%len(names)] + " " + string(rune('A'+i/len(names))) + "."},
			Attempt: 1, Submitted: &at, Release: "2027.1-59b4246abc", Seed: uint64(i)}
		r.Submission = record.Submission{File: r.Student.ID + ".zip", SHA256: strings.Repeat(fmt.Sprintf("%02x", i%256), 32)}
		switch {
		case i%13 == 12:
			r.Trouble = "it is a broken zip file (zip: not a valid zip file): pack it again"
		default:
			skill := min(1, 0.25+0.9*draw.Float64())
			for _, one := range rubrics {
				r.Put(taskOf(draw, one, skill, i))
			}
		}
		if i < len(hostile) {
			spoil(r, hostile[i])
		}
		class.Records = append(class.Records, r)
	}
	in := Input{Class: class, Out: "out/class", Similar: &similar.Result{Compared: n, Past: 3}}
	in.Entries = class.Entries()
	in.Notices = class.Notices(in.Entries)
	if n > 20 {
		a, b := similar.Origin{ID: "s014", Name: "Dorothea B.", Attempt: 1}, similar.Origin{ID: "s017", Name: "Grace B.", Attempt: 1}
		in.Similar.Pairs = []similar.Pair{{A: a, B: b, Share: 0.87, Tasks: []similar.Shared{{Task: "task2_unfused", Share: 0.87, Matched: 61, Ranges: []similar.Range{
			{FileA: "task2_unfused/kernels.cu", FromA: 12, ToA: 71, FileB: "task2_unfused/kernels.cu", FromB: 15, ToB: 76, Same: []similar.Same{{FromA: 12, ToA: 40, FromB: 15, ToB: 43}, {FromA: 43, ToA: 71, FromB: 46, ToB: 76}}},
			{FileA: "task2_unfused/attention.go", FromA: 30, ToA: 52, FileB: "task2_unfused/attention.go", FromB: 41, ToB: 63}}}}}}
		in.Texts = map[similar.Origin]map[string][]byte{a: handed("// first's"), b: handed(hostile[0])}
	}
	in.Files = func(s record.Submission) map[string][]byte {
		if slices.Contains(hostile, s.File) {
			return handed(s.File)
		}
		return handed("// plain")
	}
	return in
}

// handed is what somebody handed in: 80 lines a file, each with this text.
func handed(text string) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range []string{"task2_unfused/kernels.cu", "task4_flash/kernels.cu", "task5_decode/kernels.cu"} {
		for n := 1; n <= 80; n++ {
			files[name] = fmt.Appendf(files[name], "    x[%d] = 1.0f; %s\n", n, strings.ReplaceAll(text, "\n", " "))
		}
	}
	return files
}

// taskOf makes up a measurement: the better the student, the more of it is right.
func taskOf(draw *rand.Rand, t *rubric.Task, skill float64, student int) record.Task {
	v := verdict.Verdict{Task: t.Name, Dir: t.Dir, Title: t.Title, Subject: "your files", Device: "the simulator", Seed: 4711, Again: fmt.Sprintf("make grade TASK=%s SEED=4711", t.Name)}
	one := record.Task{Name: t.Name, Key: "k", Files: fmt.Sprint(student), Device: v.Device}
	held := student%17 == 3 && t.Name == "2"
	if draw.Float64() > skill+0.4 && !held {
		v = score.Refuse(v, t, fmt.Sprintf("%s/attention.go:17:2: undefined: rowMax\n%s/attention.go:21:9: too many return values", t.Dir, t.Dir))
		one.Result = v
		return one
	}
	stub := draw.Float64() > skill+0.25
	for _, rc := range t.Checks {
		c := verdict.Check{ID: rc.ID, Title: rc.Title}
		right, secret, secrets := 0, 0, 0
		for _, rk := range rc.Cases {
			if rk.GPU {
				continue
			}
			k := verdict.Outcome{Name: rk.Name, Hidden: rk.Hidden, Weight: rk.Weight, Traffic: rk.Traffic, Shape: rk.Shape, Dist: rk.Dist, Causal: rk.Causal, Each: rk.Each, Refused: rk.Refused}
			k.Passed = !stub && draw.Float64() < skill+0.35*float64(1-len(rk.Name)%3)
			switch {
			case stub:
				k.Class, k.Reason = "not_implemented", "attn: not implemented"
			case !k.Passed:
				k.Class, k.Reason = "wrong", "3 of 113 rows are wrong: the largest logit is not subtracted before exp, it seems"
				k.Details = []string{"worst at y[0][2][16]: got 0.0713, want 0.0021 (largest error 34 times what is allowed)"}
				k.Again = fmt.Sprintf("make grade TASK=%s CASE=%s/%s SEED=4711", t.Name, rc.ID, rk.Name)
			default:
				if rk.Hidden {
					secret++
				} else {
					right++
				}
				k.Least, k.Moved = 1000, uint64(1000*(1+4*(1-skill)*draw.Float64()*draw.Float64()))
				if rk.Traffic {
					k.Lines = []verdict.Line{{File: "kernels.cu", Line: 62, Op: "read", Requests: 10, Bytes: 1280, Sectors: 320}}
				}
			}
			if rk.Hidden {
				secrets++
			}
			c.Cases = append(c.Cases, k)
		}
		shown := len(rc.Cases) - secrets
		part := float64(right) / float64(max(shown, 1))
		parts := t.Parts(rc)
		add := func(name string, most, share float64, note string) {
			if most > 0 {
				c.Parts = append(c.Parts, verdict.Part{Name: name, Max: most, Score: most * share, Note: note})
			}
		}
		add("correctness", parts.Correctness, part, fmt.Sprintf("%d of %d cases right", right, shown))
		add(verdict.Hidden, parts.Hidden, float64(secret)/float64(max(secrets, 1)), fmt.Sprintf("%d of %d hidden cases right", secret, secrets))
		if !stub && draw.Float64() > skill+0.2 {
			c.Findings = append(c.Findings, verdict.Found{Finding: trace.Finding{Check: "racecheck", Kind: "race", File: t.Dir + "/kernels.cu", Line: 46, Column: 15, Source: "    largest = partial[0];",
				Message: "race on shared memory partial[0] (4 bytes)", Notes: []string{"thread (0,0,0) wrote it at kernels.cu:43, thread (1,0,0) reads it at kernels.cu:46", "no __syncthreads() between them; first seen in block (0,0,0)"},
				Hint: "a barrier is needed between filling shared data and using it; or, in a loop, between using it and filling it again", Count: 82169}, Case: rc.Cases[0].Name})
			add("safety", parts.Safety, 0, "1 finding")
		} else {
			add("safety", parts.Safety, 1, "no findings")
		}
		add("traffic", parts.Traffic, part, "moved 1.10 × the least bytes (24x1000)")
		add("speed", parts.Speed, skill*skill, "0.80 × the speed of cuBLAS")
		if p := c.Part("speed"); p != nil {
			if p.Ratio = 4 * skill * skill * draw.Float64(); p.Ratio == 0 || stub || student%5 == 0 {
				p.Ratio, p.NotMeasured, p.NeedsGPU = 0, "not measured: needs a GPU", true
			}
		}
		v.Checks = append(v.Checks, c)
	}
	if held {
		k := &v.Checks[0].Cases[0]
		k.Passed, k.Suspect = true, "the values are right, but much was copied from the device to the host meanwhile: were they computed there?"
		k.Facts = "copied 96000 bytes, where the outputs have 8000 and the inputs 8000"
		score.Finish(&v)
	}
	one.Result = v
	return one
}

// spoil puts a hostile text wherever a student's text may stand.
func spoil(r *record.Record, text string) {
	r.Student.Name, r.Student.Email = text, text
	r.Submission.File, r.Submission.Extra, r.Submission.Notes, r.Submission.Leaderboard = text, []string{text, text}, []string{text}, text
	if r.Trouble != "" {
		r.Trouble = text
	}
	for i := range r.Tasks {
		v := &r.Tasks[i].Result
		if v.Refused != "" {
			v.Refused = text
		}
		for j := range v.Checks {
			for n := range v.Checks[j].Cases {
				k := &v.Checks[j].Cases[n]
				k.Printed = text
				for l := range k.Lines {
					k.Lines[l].File = text
				}
				if !k.Passed {
					k.Reason, k.Details = text, []string{text}
				}
			}
			for n := range v.Checks[j].Findings {
				f := &v.Checks[j].Findings[n]
				f.Message, f.Source, f.File, f.Notes, f.Kind = text, text, text, []string{text}, text
			}
		}
	}
}
