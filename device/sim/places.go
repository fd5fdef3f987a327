package sim

import (
	"debug/dwarf"
	"debug/elf"
	"path/filepath"
	"sort"
)

// places answers, from a module's debug information, which source line an
// instruction belongs to and how an array is shaped.
type places struct {
	rows    []row
	inlined []inlined
	arrays  map[string]array // by "function::variable", or the variable alone
}

// inlined is code of a function that was expanded where it is called.
type inlined struct {
	low, high uint64
	call      row
}

type row struct {
	address      uint64
	file         string
	line, column int
	end          bool
}

type array struct {
	dims     []int64
	elemSize int64
}

func readPlaces(path string) (*places, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	p := &places{arrays: map[string]array{}}
	r := data.Reader()
	var files []*dwarf.LineFile
	var open []string // the functions around the entry, "" for other scopes
	for {
		entry, err := r.Next()
		if err != nil || entry == nil {
			break
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		switch entry.Tag {
		case 0: // the end of a scope
			open = open[:max(len(open)-1, 0)]
		case dwarf.TagCompileUnit:
			files = p.readLines(data, entry)
		case dwarf.TagInlinedSubroutine:
			p.readInlined(data, entry, files)
		case dwarf.TagVariable:
			p.readArray(data, entry, name, innermost(open))
		}
		if entry.Children {
			if entry.Tag != dwarf.TagSubprogram {
				name = ""
			}
			open = append(open, name)
		}
	}
	sort.SliceStable(p.rows, func(i, j int) bool { return p.rows[i].address < p.rows[j].address })
	return p, nil
}

func (p *places) readLines(data *dwarf.Data, unit *dwarf.Entry) []*dwarf.LineFile {
	lines, err := data.LineReader(unit)
	if err != nil || lines == nil {
		return nil
	}
	var e dwarf.LineEntry
	for lines.Next(&e) == nil {
		r := row{address: e.Address, line: e.Line, column: e.Column, end: e.EndSequence}
		if e.File != nil {
			r.file = filepath.Base(e.File.Name)
		}
		p.rows = append(p.rows, r)
	}
	return lines.Files()
}

func (p *places) readInlined(data *dwarf.Data, entry *dwarf.Entry, files []*dwarf.LineFile) {
	file, _ := entry.Val(dwarf.AttrCallFile).(int64)
	line, _ := entry.Val(dwarf.AttrCallLine).(int64)
	column, _ := entry.Val(dwarf.AttrCallColumn).(int64)
	ranges, err := data.Ranges(entry)
	if err != nil || line == 0 || file < 0 || int(file) >= len(files) || files[file] == nil {
		return
	}
	call := row{file: filepath.Base(files[file].Name), line: int(line), column: int(column)}
	for _, r := range ranges {
		p.inlined = append(p.inlined, inlined{r[0], r[1], call})
	}
}

func innermost(open []string) string {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] != "" {
			return open[i]
		}
	}
	return ""
}

// readArray keeps a variable's dimensions.
func (p *places) readArray(data *dwarf.Data, entry *dwarf.Entry, name, function string) {
	offset, ok := entry.Val(dwarf.AttrType).(dwarf.Offset)
	if name == "" || !ok {
		return
	}
	t, err := data.Type(offset)
	if err != nil {
		return
	}
	var a array
	for t != nil {
		known, isArray := t.(*dwarf.ArrayType)
		if isArray {
			a.dims = append(a.dims, known.Count)
			t = known.Type
			continue
		}
		inner := unwrap(t)
		if inner == t {
			break
		}
		t = inner
	}
	a.elemSize = t.Size()
	if len(a.dims) > 0 && a.elemSize > 0 {
		p.arrays[name] = a
		p.arrays[function+"::"+name] = a
	}
}

// unwrap looks through a typedef or a qualifier.
func unwrap(t dwarf.Type) dwarf.Type {
	switch known := t.(type) {
	case *dwarf.TypedefType:
		return known.Type
	case *dwarf.QualType:
		return known.Type
	}
	return t
}

func (a array) bytes() int64 {
	n := a.elemSize
	for _, d := range a.dims {
		n *= d
	}
	return n
}

// line finds the row that an address belongs to. Code of the shim that was
// inlined there counts as the student's line that calls it; failing that, as the
// nearest one before it.
func (p *places) line(address uint64, own func(file string) bool) (row, bool) {
	i := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].address > address })
	if i > 0 && !own(p.rows[i-1].file) {
		if call, ok := p.caller(address, own); ok {
			return call, true
		}
	}
	if i > 0 && i < len(p.rows) && p.rows[i-1].line == 0 && !p.rows[i].end && p.rows[i].line > 0 {
		// Code of the compiler's own, such as its call at the start of a block,
		// belongs to what it stands before.
		if own(p.rows[i].file) {
			return p.rows[i], true
		}
		if call, ok := p.caller(p.rows[i].address, own); ok {
			return call, true
		}
	}
	for i--; i >= 0; i-- {
		r := p.rows[i]
		if r.end {
			break
		}
		if own(r.file) && r.line > 0 {
			return r, true
		}
	}
	return row{}, false
}

// exactly is the row of an address itself, or of the call that was expanded there; without a line where the compiler
// gives none, as to what it has made of two lines.
func (p *places) exactly(address uint64, own func(file string) bool) row {
	i := sort.Search(len(p.rows), func(i int) bool { return p.rows[i].address > address }) - 1
	switch {
	case i < 0:
		return row{}
	case own(p.rows[i].file):
		return p.rows[i]
	}
	call, _ := p.caller(address, own)
	return call
}

// caller finds the innermost call in one's own files that was expanded at an address.
func (p *places) caller(address uint64, own func(file string) bool) (row, bool) {
	var best *inlined
	for i, in := range p.inlined {
		if in.low <= address && address < in.high && own(in.call.file) &&
			(best == nil || in.high-in.low <= best.high-best.low) {
			best = &p.inlined[i]
		}
	}
	if best == nil {
		return row{}, false
	}
	return best.call, true
}

// array is the shape of a variable, of a function's own where that has one.
func (p *places) array(owner, name string) (array, bool) {
	a, known := p.arrays[owner+"::"+name]
	if !known {
		a, known = p.arrays[name]
	}
	return a, known
}
