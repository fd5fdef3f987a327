package pages

// fewest students that class.html shows anything about: fewer would know each other's points.
const fewest = 5

// class is what class.html shows: how the class did, and what was hard. There is no name in it, no order of
// students, no hidden case by its name, and no word of what awaits a person.
type class struct {
	Course, Release string
	HandedIn        int
	TooFew          bool
	Median          float64
	Hist            histogram
	Tasks           []taskStats
	Strips          []strip
	Hardest         []caseStats
	Kinds           []kindStats
}

func classOf(in Input) class {
	c := class{Course: in.Class.Course.Title, Median: -1}
	for _, e := range in.Entries {
		if e.Attempts > 0 {
			c.HandedIn++
			if r := e.Last(); r != nil && c.Release == "" {
				c.Release = r.Release
			}
		}
	}
	if c.HandedIn < fewest {
		c.TooFew = true
		return c
	}
	shares := totals(in.Entries)
	c.Hist, c.Median = histogramOf(shares), quartile(shares, 0.5)
	c.Tasks = tasksOf(in)
	for i := range c.Tasks {
		for j := range c.Tasks[i].Checks {
			c.Tasks[i].Checks[j].enough()
		}
	}
	c.Strips = strips(c.Tasks, false)
	c.Hardest, c.Kinds = hardest(in.Entries, false, 8), kinds(in.Entries)
	return c
}

// enough removes the dots where they are so few that it is clear whose they are.
func (s *checkStats) enough() {
	if len(s.Speed) < fewest {
		s.Speed = nil
	}
	if len(s.Traffic) < fewest {
		s.Traffic = nil
	}
}
