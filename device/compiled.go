package device

import (
	"strconv"
	"strings"
)

// kindWords stand for types that the text does not tell.
var kindWords = map[byte]string{'p': "pointer", 'i': "integer", 'u': "unsigned integer", 'f': "float", 'o': "struct"}

// Compiled fills in what the source's text did not tell of a kernel's parameters: those
// of a type that has another name, structs, templates'. kinds is "p8 i4 o12". Where the text
// told of no parameter, or of another number, they are as kinds has them.
func (s Signature) Compiled(kinds string) Signature {
	fields := strings.Fields(kinds)
	if len(fields) == len(s.Params) {
		s.Params = append([]Param{}, s.Params...)
	} else {
		s.Params = make([]Param, len(fields))
		for i, f := range fields {
			s.Params[i].Type = kindWords[f[0]]
		}
	}
	for i, f := range fields {
		p := &s.Params[i]
		size, err := strconv.Atoi(f[1:])
		kind := map[byte]ParamKind{'p': Pointer, 'i': Int, 'u': Int, 'f': Float}[f[0]]
		if err != nil || p.Kind == Map || p.Kind == kind && p.Size == size {
			continue
		}
		*p = Param{Name: p.Name, Type: p.Type, Kind: kind, Size: size, Unsigned: f[0] == 'u'}
	}
	return s
}
