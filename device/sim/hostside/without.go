package hostside

import "slices"

// Lost is a kernel that was taken out, and which of the places is why.
type Lost struct {
	Kernel string
	Reason int
}

// Without takes out the functions around some places of the text, and those that name
// them: a kernel that cannot run should not take the others with it. It changes the
// result, and returns the kernels that are gone. Places outside of functions are left
// alone: they are counted in rest.
func (r *Result) Without(places []int) (lost []Lost, rest int) {
	p := r.parser
	reason, rest := p.comers(places)
	out := []byte(r.Text)
	for d, why := range reason {
		d.kept = false
		blank(out, p.all[d.first].at, p.all[d.last].end(), p.own)
		if d.marks["__global__"] {
			lost = append(lost, Lost{p.fullName(d), why})
		}
		r.Any = true
	}
	r.Kernels = slices.DeleteFunc(r.Kernels, func(k Kernel) bool {
		return !slices.ContainsFunc(p.found, func(d *declaration) bool { return d.kept && p.all[d.first].at == k.Range[0] })
	})
	r.Text = string(out)
	slices.SortFunc(lost, func(a, b Lost) int { return a.Reason - b.Reason })
	return lost, rest
}

// Comers are the kernels that come to some places of the text, by the names of functions, and the places that no kernel
// comes to.
func (r *Result) Comers(places []int) (kernels []Lost, nobodys []int) {
	for i, at := range places {
		comers, _ := r.parser.comers([]int{at})
		found := false
		for _, d := range r.parser.found {
			if _, comes := comers[d]; comes && d.marks["__global__"] {
				kernels = append(kernels, Lost{r.parser.fullName(d), i})
				found = true
			}
		}
		if !found {
			nobodys = append(nobodys, i)
		}
	}
	return kernels, nobodys
}

// comers are the functions around some places, and those that name them, with the place that is why.
func (p *parser) comers(places []int) (reason map[*declaration]int, rest int) {
	reason = map[*declaration]int{}
	var queue []*declaration
	take := func(d *declaration, why int) {
		if _, gone := reason[d]; !gone && d.kept && d.function {
			reason[d] = why
			queue = append(queue, d)
		}
	}
	for i, at := range places {
		j := slices.IndexFunc(p.found, func(d *declaration) bool {
			return d.kept && d.function && p.all[d.first].at <= at && at < p.all[d.last].end()
		})
		if j < 0 {
			rest++
			continue
		}
		take(p.found[j], i)
	}
	for len(queue) > 0 {
		d := queue[0]
		queue = queue[1:]
		if d.marks["__global__"] || d.name() == "" || d.name() == "operator" {
			continue // nothing calls it by name
		}
		for _, other := range p.found {
			if other.kept && other.function && p.names(other, d.name()) {
				take(other, reason[d])
			}
		}
	}
	return reason, rest
}

func (p *parser) names(d *declaration, name string) bool {
	return slices.ContainsFunc(p.all[d.first:d.last+1], func(t token) bool { return t.text == name })
}
