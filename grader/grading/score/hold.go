package score

import (
	"strings"

	"flashlab/grader/grading/verdict"
)

// Finish makes a verdict fit to be shown: texts from the submission are made plain,
// and the points of checks that a person has to look at are taken out of the score,
// whatever they were.
func Finish(v *verdict.Verdict) {
	v.MakePlain()
	hold(v)
}

// copied says why code of the course's own is not marked by a machine.
const copied = "code that the course ships is in it: students have it to grade themselves, not to hand in"

func hold(v *verdict.Verdict) {
	for i := range v.Checks {
		c := &v.Checks[i]
		if len(v.Copies) > 0 && v.Refused == "" {
			v.Held = append(v.Held, verdict.Held{Check: c.ID, Reason: copied, Evidence: strings.Join(v.Copies, "; "), Reproduce: v.Again})
			for j := range c.Parts {
				c.Parts[j].Score, c.Parts[j].NotMeasured, c.Parts[j].NeedsGPU = 0, verdict.Awaiting, false
			}
			continue
		}
		for _, k := range c.Cases {
			if k.Suspect == "" {
				continue
			}
			v.Held = append(v.Held, verdict.Held{Check: c.ID, Reason: k.Suspect, Evidence: c.ID + "/" + k.Name + ": " + k.Facts, Reproduce: k.Again})
			for j := range c.Parts {
				c.Parts[j].Score, c.Parts[j].NotMeasured, c.Parts[j].NeedsGPU = 0, verdict.Awaiting, false
			}
			break // one reason is enough
		}
		for j := range c.Parts {
			if p := &c.Parts[j]; p.Doubt != "" {
				v.Held = append(v.Held, verdict.Held{Check: c.ID, Reason: "its time is not believed", Evidence: p.Doubt, Reproduce: v.Again})
				p.Score, p.NotMeasured, p.NeedsGPU = 0, verdict.Awaiting, false
			}
		}
	}
}
