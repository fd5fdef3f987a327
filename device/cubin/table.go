package cubin

import (
	"slices"

	"flashlab/device"
)

// Table is what Go may ask a module for: kernels by what it calls them, and their names in the machine code.
type Table struct {
	file  string
	c     []device.Signature // of C linkage, as the text has them
	named []Kernel
}

// NewTable reads the machine code that came of a file, whose text has these kernels of C linkage.
func NewTable(file string, c []device.Signature, code []byte) (Table, error) {
	named, err := Kernels(code)
	return Table{file, c, named}, err
}

// Find looks a kernel up. Where its signature was read from the text alone, the text may have others of
// that name, and told is false; else the compiler has told it.
func (t Table) Find(name string) (sig device.Signature, symbol string, known bool, err error) {
	all := slices.Clone(t.c)
	for _, k := range t.named {
		all = append(all, k.Signature)
	}
	if sig, err = device.FindKernel(t.file, all, name); err != nil {
		return sig, "", false, err
	}
	at := slices.IndexFunc(t.named, func(k Kernel) bool { return k.Signature.Name == name })
	if at < 0 {
		return sig, name, false, nil
	}
	sig = t.named[at].Signature
	sig.Empty = slices.ContainsFunc(t.c, func(s device.Signature) bool { return s.Name == name && s.Empty })
	return sig, t.named[at].Symbol, true, nil
}

// Texts are the signatures of a kernel of C linkage: an #if may choose among several.
func (t Table) Texts(name string) []device.Signature {
	return slices.DeleteFunc(slices.Clone(t.c), func(s device.Signature) bool { return s.Name != name })
}
