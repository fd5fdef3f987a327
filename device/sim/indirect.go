package sim

import (
	"debug/elf"
	"strings"
)

// ByAddress names the files whose kernels call or jump to an address that they
// computed: a function pointer, or something worse. No access check sees where it
// leads, so what such a kernel did is not proven by the counts.
func (d *Device) ByAddress() []string {
	var names []string
	for _, m := range d.modules {
		if m == nil {
			continue
		}
		if m.byAddress == nil {
			found := jumpsByAddress(m.path)
			m.byAddress = &found
		}
		if *m.byAddress {
			names = append(names, m.source.Name)
		}
	}
	return names
}

// jumpsByAddress looks through a module's own code; the linker's (.plt, .init) goes
// to imported functions, which are checked by name. Switches and tail calls do
// not look like it: see kernelFlags.
func jumpsByAddress(path string) (found bool) {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".text") || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		bytes, err := s.Data()
		if err != nil {
			continue
		}
		own := linkers(f)
		(&section{f.Machine == elf.EM_AARCH64, s.Addr, bytes}).each(func(i step) {
			if (i.flow == calls || i.flow == jumps) && !i.direct && !own(i.at) {
				found = true
			}
		})
	}
	return found
}

// linkers tells which addresses belong to what the linker adds to every shared
// object, to be run when it is loaded.
func linkers(f *elf.File) func(at uint64) bool {
	type span struct{ from, to uint64 }
	var spans []span
	symbols, _ := f.Symbols()
	for i, s := range symbols {
		if s.Size > 0 { // a kernel file's functions have a size, whatever their names
			continue
		}
		switch s.Name {
		case "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux", "frame_dummy":
			to := ^uint64(0) // up to the next function
			for j, o := range symbols {
				if j != i && elf.ST_TYPE(o.Info) == elf.STT_FUNC && o.Value > s.Value {
					to = min(to, o.Value)
				}
			}
			spans = append(spans, span{s.Value, to})
		}
	}
	return func(at uint64) bool {
		for _, s := range spans {
			if at >= s.from && at < s.to {
				return true
			}
		}
		return false
	}
}
