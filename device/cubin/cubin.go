// Package cubin reads from machine code for a GPU which of its functions are the kernels that a source
// names by an expression, such as add<float>: nvcc gives them names of its own. It needs no GPU.
package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
)

// Holder and Signature begin the names of the two constants that stand for a kernel; the same number ends
// both. The first has its address and its parameters (nvcc/include/kernels.h), the second what Text writes.
const (
	Holder    = "flashlab_kernel_"
	Signature = "flashlab_signature_"
)

// Text is what the second constant holds. The expression comes last, for it may have lines of its own.
func Text(expression string, line int, params string) string {
	return fmt.Sprintf("%d\n%s\n%s", line, params, expression)
}

// Kernel is one that the machine code says the name of.
type Kernel struct {
	Symbol    string // "_Z3addIfEvPT_", or "" where the expression names what is no kernel
	Signature device.Signature
}

// Kernels lists those of a cubin that have such constants, in the order of their numbers.
func Kernels(data []byte) ([]Kernel, error) {
	f, err := open(data)
	if err != nil {
		return nil, err
	}
	var found []Kernel
	for n := 0; ; n++ {
		holder, ok := f.symbols[Holder+strconv.Itoa(n)]
		if !ok {
			return found, nil
		}
		k, err := f.kernel(holder, f.symbols[Signature+strconv.Itoa(n)])
		if err != nil {
			return nil, fmt.Errorf("machine code: kernel %d: %w", n, err)
		}
		found = append(found, k)
	}
}

// file is a cubin, taken apart.
type file struct {
	*elf.File
	all     []elf.Symbol
	symbols map[string]elf.Symbol
}

func open(data []byte) (*file, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("machine code: %w", err)
	}
	all, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("machine code: %w", err)
	}
	symbols := map[string]elf.Symbol{}
	for _, s := range all {
		symbols[s.Name] = s
	}
	return &file{f, all, symbols}, nil
}

func (f *file) kernel(holder, signature elf.Symbol) (Kernel, error) {
	text, err := f.bytes(signature)
	if err != nil {
		return Kernel{}, err
	}
	parts := strings.SplitN(strings.TrimRight(string(text), "\x00"), "\n", 3)
	if len(parts) != 3 {
		return Kernel{}, fmt.Errorf("its signature reads %q", text)
	}
	line, _ := strconv.Atoi(parts[0])
	k := Kernel{Signature: device.Signature{Name: parts[2], Line: line, Params: device.ParseParams(parts[1])}}
	held, err := f.bytes(holder)
	if err != nil {
		return Kernel{}, err
	}
	kinds, err := kindsOf(held)
	if err != nil {
		return Kernel{}, err
	}
	k.Signature = k.Signature.Compiled(kinds)
	k.Symbol, err = f.pointedAt(holder)
	return k, err
}

// bytes are what a constant holds.
func (f *file) bytes(s elf.Symbol) ([]byte, error) {
	if s.Name == "" || int(s.Section) >= len(f.Sections) {
		return nil, fmt.Errorf("a constant is missing")
	}
	data, err := f.Sections[s.Section].Data()
	if err != nil {
		return nil, err
	}
	if s.Value > uint64(len(data)) || s.Size > uint64(len(data))-s.Value {
		return nil, fmt.Errorf("%s lies outside its section", s.Name)
	}
	return data[s.Value : s.Value+s.Size], nil
}

// kindsOf reads the parameters' kinds and sizes from behind the address: "p8 i4".
func kindsOf(held []byte) (string, error) {
	const address, count = 8, 4
	if len(held) < address+count {
		return "", fmt.Errorf("its constant has %d bytes", len(held))
	}
	n := int(binary.LittleEndian.Uint32(held[address:]))
	sizes := held[address+count:]
	if n < 0 || n > len(sizes)/3-1 {
		return "", fmt.Errorf("its constant has %d bytes, too few for %d parameters", len(held), n)
	}
	letters := sizes[2*(n+1):]
	kinds := make([]string, n)
	for i := range kinds {
		kinds[i] = fmt.Sprintf("%c%d", letters[i], binary.LittleEndian.Uint16(sizes[2*i:]))
	}
	return strings.Join(kinds, " "), nil
}

// entryFunction marks a kernel in the field of a symbol that ELF leaves to each machine (STO_CUDA_ENTRY).
const entryFunction = 0x10

// pointedAt is the kernel whose address is to be written at the start of a constant.
func (f *file) pointedAt(holder elf.Symbol) (string, error) {
	at := slices.IndexFunc(f.Sections, func(s *elf.Section) bool {
		return s.Type == elf.SHT_RELA && s.Info == uint32(holder.Section)
	})
	if at < 0 {
		return "", nil
	}
	data, err := f.Sections[at].Data()
	if err != nil {
		return "", err
	}
	for ; len(data) >= 24; data = data[24:] {
		offset, info := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		symbol := info >> 32
		if offset != holder.Value || symbol == 0 || symbol > uint64(len(f.all)) {
			continue
		}
		if s := f.all[symbol-1]; s.Other&entryFunction != 0 { // the list leaves out symbol 0
			return s.Name, nil
		}
	}
	return "", nil
}
