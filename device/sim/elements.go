package sim

import (
	"fmt"
	"strings"
)

// element names the element of a variable at a byte offset, in the units of its type: tile[3][16].
func (p *places) element(owner, name string, offset, bytes int64) string {
	a, known := p.array(owner, name)
	if !known {
		switch {
		case offset == 0:
			return name
		case bytes > 0 && offset%bytes == 0: // no type is known: count in units of the access
			return fmt.Sprintf("%s[%d]", name, offset/bytes)
		}
		return fmt.Sprintf("%s %+d bytes", name, offset)
	}
	index := offset / a.elemSize
	if offset%a.elemSize < 0 { // towards the element it begins in
		index--
	}
	parts := make([]string, len(a.dims))
	for i := len(a.dims) - 1; i > 0; i-- {
		n := max(a.dims[i], 1)
		parts[i] = fmt.Sprintf("[%d]", (index%n+n)%n)
		index = (index - (index%n+n)%n) / n
	}
	parts[0] = fmt.Sprintf("[%d]", index) // beyond the array where the offset is
	return name + strings.Join(parts, "")
}

// holds says how much a variable of a size has room for, in the same units: 3 × 16 elements.
func (p *places) holds(owner, name string, size, bytes int64) string {
	a, known := p.array(owner, name)
	switch {
	case known && a.elemSize == 1 && len(a.dims) == 1:
		return fmt.Sprintf("%d bytes", size)
	case known && a.bytes() == size && len(a.dims) > 1:
		dims := strings.Trim(strings.ReplaceAll(fmt.Sprint(a.dims), " ", " × "), "[]")
		return dims + " elements"
	case known:
		bytes = a.elemSize
	}
	if n := size / max(bytes, 1); n != 1 {
		return fmt.Sprintf("%d elements", n)
	}
	return "1 element"
}

// dynamic is the extern __shared__ array that a kernel declares, where it declares one: all of a module begin
// at the same place, and the simulator knows no more than the name of one.
func (p *places) dynamic(kernel, name string) (owner, own string) {
	for key, a := range p.arrays {
		in, variable, inFunction := strings.Cut(key, "::")
		if !inFunction || in != kernel || a.dims[0] >= 0 {
			continue
		}
		if own != "" { // two names of the same memory
			return "", name
		}
		owner, own = in, variable
	}
	if own == "" {
		return "", name
	}
	return owner, own
}
