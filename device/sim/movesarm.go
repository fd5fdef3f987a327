package sim

import "strings"

// moveArm does to the state what a load or a store does.
func (s *state) moveArm(i *statement) {
	a := i.access
	if a.none {
		return
	}
	if a.each == 0 { // the module will be refused
		s.forget()
		s.slots = map[slotKey]slot{}
		return
	}
	at := s.armAddress(a.place)
	if a.place.before || a.place.after { // a load may change its base, but not to what it loads
		s.set(a.place.base, s.armValue(a.place.base).add(value{plus: a.place.step}, 1))
	}
	for n := range a.registers {
		here := at.add(value{plus: int64(n * a.each)}, 1)
		r, bytes, general := 0, 0, false
		if n < a.at {
			r, bytes, general = armRegister(i.args[n])
		}
		switch {
		case a.write:
			if s.overwritten(here, a.each, true) && general && bytes == a.each {
				s.put(here, bytes, s.narrowed(s.armValue(r), bytes))
			}
		case general && r != armZero:
			s.registers[r] = s.loadedArm(i, here, bytes)
		}
	}
}

// loadedArm is what a load leaves in a register.
func (s *state) loadedArm(i *statement, at value, bytes int) value {
	switch a := i.access; {
	case filled(a.place):
		_, symbol := relocated(a.place.symbol)
		return s.named(loaded(symbol))
	case a.each < bytes: // and fills up the rest
		return s.widened(i.op, s.fresh(false))
	case !s.local(at):
		return s.narrowed(s.fresh(false), bytes)
	}
	return s.narrowed(s.load(at, bytes), bytes)
}

// armAddress is where an access begins.
func (s *state) armAddress(p armPlace) value {
	base := s.armValue(p.base)
	if p.symbol != "" {
		return s.within(base, p.symbol)
	}
	if p.index >= 0 {
		return base.add(s.extended(s.armValue(p.index), p.extend), 1)
	}
	return base.add(value{plus: p.plus}, 1)
}

func (s *state) armValue(register int) value {
	if register == armZero {
		return value{}
	}
	return s.registers[register]
}

// page is what adrp leaves, and within what :lo12: and the like make of it.
func (s *state) page(name string) value {
	relocation, symbol := relocated(name)
	symbol, _ = splitDisplacement(symbol)
	return s.named(origin{what: "page " + relocation + " " + symbol})
}

func (s *state) within(page value, name string) value {
	relocation, symbol := relocated(name)
	symbol, plus := splitDisplacement(symbol)
	kind := strings.TrimSuffix(strings.TrimSuffix(relocation, "lo12"), "_")
	if !page.equal(s.named(origin{what: "page " + kind + " " + symbol})) {
		return s.fresh(false)
	}
	return s.named(origin{what: strings.TrimSpace("symbol " + kind + " " + symbol)}).add(value{plus: plus}, 1)
}

// relocated takes :got_lo12:name apart.
func relocated(name string) (relocation, symbol string) {
	if parts := strings.SplitN(strings.TrimPrefix(name, "#"), ":", 3); len(parts) == 3 && parts[0] == "" {
		return parts[1], parts[2]
	}
	return "", name
}

// filled is a place that the loader fills in, once: of the address of name, or of its offset from
// the thread's pointer.
func filled(p armPlace) bool {
	relocation, _ := relocated(p.symbol)
	return relocation == "got_lo12" || relocation == "gottprel_lo12"
}

// extended is an operand as "lsl 2" or "sxtw 3" make it.
func (s *state) extended(v value, how string) value {
	kind, text, _ := strings.Cut(how, " ")
	by := int64(0)
	if text != "" {
		var ok bool
		if by, ok = armNumber(text); !ok {
			return s.fresh(false)
		}
	}
	switch kind {
	case "", "lsl", "uxtx", "sxtx":
	case "sxtw":
		v = s.widened("sxtw", s.low(v))
	case "uxtw":
		v = s.narrowed(v, 4)
	default:
		return s.named(origin{what: how, of: [3]id{s.id(v)}})
	}
	return value{}.add(v, 1<<by)
}
