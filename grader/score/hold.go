package score

// Hold takes the points of the checks that a person has to look at out of the
// score, whatever they were, and says why.
func (v *Verdict) Hold() {
	for i := range v.Checks {
		c := &v.Checks[i]
		for _, k := range c.Cases {
			if k.Suspect == "" {
				continue
			}
			v.Held = append(v.Held, Held{Check: c.ID, Reason: k.Suspect, Evidence: c.ID + "/" + k.Name + ": " + k.Facts, Reproduce: k.Again})
			for j := range c.Parts {
				c.Parts[j].Score, c.Parts[j].NotMeasured, c.Parts[j].NeedsGPU = 0, Awaiting, false
			}
			break // one reason is enough
		}
	}
}
