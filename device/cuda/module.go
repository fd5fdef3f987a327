//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/cu"

	"flashlab/device"
	"flashlab/device/cubin"
)

// module is a cubin on the GPU.
type module struct {
	gpu     *gpu
	file    string
	handle  cu.Module
	table   cubin.Table
	kernels map[string]*kernel // those asked for; guarded by the gpu's lock
}

// kernel is a function of a module.
type kernel struct {
	gpu        *gpu
	fn         cu.Function
	sig        device.Signature
	static     int // bytes of shared memory that the code itself declares
	maxThreads int // a block, by its registers and __launch_bounds__
	allowed    int // bytes of dynamic shared memory that were asked for so far
}

// Signature is the kernel's name and parameters.
func (k *kernel) Signature() device.Signature { return k.sig }

// Compile builds a .cu file for this GPU and loads it.
func (g *gpu) Compile(src device.Source) (device.Module, error) {
	if err := g.now("compile "+src.Name, func() error { return nil }); err != nil {
		return nil, err // before nvcc takes its time
	}
	code, kernels, err := g.compile(src, g.info.Arch)
	if err != nil {
		return nil, err
	}
	table, err := cubin.NewTable(src.Name, kernels, code)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", src.Name, err)
	}
	m := &module{gpu: g, file: src.Name, table: table, kernels: map[string]*kernel{}}
	err = g.now("load "+src.Name, func() error {
		if m.handle, err = cu.LoadData(string(code)); err != nil {
			return g.failed(fmt.Sprintf("load %s: cuModuleLoadData(%d bytes for %s)", src.Name, len(code), g.info.Arch), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Kernel finds a kernel by name, or by the expression for it.
func (m *module) Kernel(name string) (device.Kernel, error) {
	sig, symbol, known, err := m.table.Find(name)
	if err != nil {
		return nil, err
	}
	var k *kernel
	err = m.gpu.do(func() error {
		if k = m.kernels[name]; k == nil {
			if k, err = m.load(sig, symbol, known); err != nil {
				return err
			}
			m.kernels[name] = k
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return k, nil
}

// load gets a kernel from the driver; known: the compiler has known its parameters.
func (m *module) load(sig device.Signature, symbol string, known bool) (*kernel, error) {
	k := &kernel{gpu: m.gpu, sig: sig}
	var err error
	if k.fn, err = m.handle.Function(symbol); known && errors.Is(err, cu.NotFound) {
		return nil, fmt.Errorf("%s: the driver does not find the kernel %s, which the compiled code has as %s: if it is static or in a namespace without a name, take that away", m.file, sig.Name, symbol)
	}
	if errors.Is(err, cu.NotFound) {
		return nil, fmt.Errorf("%s: the compiled code has no kernel %q: is its definition inside an #if?", m.file, symbol)
	}
	if err != nil {
		return nil, m.gpu.failed(fmt.Sprintf("cuModuleGetFunction(%s)", symbol), err)
	}
	if k.static, err = k.fn.Attribute(cu.SharedSizeBytes); err != nil {
		return nil, m.gpu.failed(fmt.Sprintf("cuFuncGetAttribute(%s, SHARED_SIZE_BYTES)", sig.Name), err)
	}
	if k.maxThreads, err = k.fn.Attribute(cu.FnMaxThreadsPerBlock); err != nil {
		return nil, m.gpu.failed(fmt.Sprintf("cuFuncGetAttribute(%s, MAX_THREADS_PER_BLOCK)", sig.Name), err)
	}
	if sizes, ok := paramSizes(k.fn); ok && !known {
		if k.sig, err = m.compiled(sig, sizes); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// Attributes asks the driver.
func (g *gpu) Attributes(k device.Kernel) (device.Attributes, error) {
	ours, err := g.own(k)
	if err != nil {
		return device.Attributes{}, err
	}
	a := device.Attributes{SharedBytes: ours.static, MaxThreads: ours.maxThreads}
	err = g.do(func() error {
		if a.Registers, err = ours.fn.Attribute(cu.NumRegs); err != nil {
			return g.failed(fmt.Sprintf("cuFuncGetAttribute(%s, NUM_REGS)", ours.sig.Name), err)
		}
		if a.LocalBytes, err = ours.fn.Attribute(cu.LocalSizeBytes); err != nil {
			return g.failed(fmt.Sprintf("cuFuncGetAttribute(%s, LOCAL_SIZE_BYTES)", ours.sig.Name), err)
		}
		return nil
	})
	return a, err
}

// compiled is the definition that the code comes from: a file may have several of one name, under #if.
func (m *module) compiled(first device.Signature, sizes []int) (device.Signature, error) {
	for _, sig := range m.table.Texts(first.Name) {
		if agree(sig, sizes) == nil {
			sig.Params = slices.Clone(sig.Params)
			for i, size := range sizes { // of a struct, or of an alias, the source does not tell
				sig.Params[i].Size = size
			}
			return sig, nil
		}
	}
	at := m.file
	if first.Line > 0 {
		at += fmt.Sprintf(":%d", first.Line)
	}
	return first, fmt.Errorf("%s: kernel %w", at, agree(first, sizes))
}

// agree compares the parameters as read from the source with those compiled: a
// macro or a typedef may have made something else of them.
func agree(sig device.Signature, sizes []int) error {
	if len(sizes) != len(sig.Params) {
		return fmt.Errorf("%s was compiled with %d parameters", sig, len(sizes))
	}
	for i, p := range sig.Params {
		if p.Size != 0 && p.Size != sizes[i] {
			return fmt.Errorf("%s: parameter %d, %s, was compiled to %d bytes and reads like %d: write its type out", sig, i+1, p.Name, sizes[i], p.Size)
		}
	}
	return nil
}
