//go:build cuda

package cuda

// #include <stdlib.h>
// int flashlabCublasOpen(const char *path, void **handle, int *version, char *error, size_t size);
// int flashlabCublasStrided(void *handle, int transB, int m, int n, int k, float scale,
//                           unsigned long long a, int rowA, long long nextA, unsigned long long b, int rowB, long long nextB,
//                           unsigned long long c, int rowC, long long nextC, int batch);
// int flashlabCublasPointers(void *handle, int transB, int m, int n, int k, float scale,
//                            unsigned long long a, int rowA, unsigned long long b, int rowB, unsigned long long c, int rowC, int batch);
// int flashlabCublasStridedEx(void *handle, int type, int out, int transB, int m, int n, int k, float scale,
//                             unsigned long long a, int rowA, long long nextA, unsigned long long b, int rowB, long long nextB,
//                             unsigned long long c, int rowC, long long nextC, int batch);
// int flashlabCublasPointersEx(void *handle, int type, int out, int transB, int m, int n, int k, float scale,
//                              unsigned long long a, int rowA, unsigned long long b, int rowB, unsigned long long c, int rowC, int batch);
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"flashlab/device"
	"flashlab/tensor"
)

// LibraryEnv names, in the environment, the file of cuBLAS to load; without it the
// usual names are tried.
const LibraryEnv = "FLASHLAB_CUBLAS"

// cublas is the library, once it was asked for.
type cublas struct {
	tried  bool
	handle unsafe.Pointer
	about  string
	absent error
}

// errNoCublas is the error of baselines without it.
var errNoCublas = errors.New("cuBLAS was not found: it comes with the CUDA toolkit, and with PyTorch")

// open loads the library into the context that is current.
func (c *cublas) open() error {
	if c.tried {
		return c.absent
	}
	c.tried = true
	names := []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "/usr/local/cuda/lib64/libcublas.so"}
	if file := os.Getenv(LibraryEnv); file != "" {
		names = append([]string{file}, names...)
	}
	for _, name := range names {
		why := make([]C.char, 512)
		path := C.CString(name)
		var version C.int
		status := C.flashlabCublasOpen(path, &c.handle, &version, &why[0], C.size_t(len(why)))
		C.free(unsafe.Pointer(path))
		if status == 0 {
			n := int(version)
			c.about = fmt.Sprintf("cuBLAS %d.%d.%d", n/10000, n/100%100, n%100)
			c.absent = nil
			return nil
		}
		if c.absent == nil {
			c.absent = fmt.Errorf("%w (%s)", errNoCublas, C.GoString(&why[0]))
		}
	}
	return c.absent
}

// Library names cuBLAS.
func (g *gpu) Library() (string, error) {
	err := g.now("open cuBLAS", g.library.open)
	return g.library.about, err
}

// Multiply queues products of dense or strided tensors.
func (g *gpu) Multiply(c, a, b device.Memory, p device.Product) error {
	return g.now("multiply", func() error {
		if err := g.library.open(); err != nil {
			return err
		}
		for _, m := range []device.Memory{c, a, b} {
			if err := g.holds("multiply", m); err != nil {
				return err
			}
		}
		if in, out, wide := dataTypes(p); !wide {
			status := C.flashlabCublasStridedEx(g.library.handle, in, out, flag(p.TransB), C.int(p.M), C.int(p.N), C.int(p.K), C.float(p.Scale),
				at(a), C.int(p.RowA), C.longlong(p.NextA), at(b), C.int(p.RowB), C.longlong(p.NextB),
				at(c), C.int(p.RowC), C.longlong(p.NextC), C.int(p.Batch))
			return multiplied("cublasGemmStridedBatchedEx", status, p)
		}
		status := C.flashlabCublasStrided(g.library.handle, flag(p.TransB), C.int(p.M), C.int(p.N), C.int(p.K), C.float(p.Scale),
			at(a), C.int(p.RowA), C.longlong(p.NextA), at(b), C.int(p.RowB), C.longlong(p.NextB),
			at(c), C.int(p.RowC), C.longlong(p.NextC), C.int(p.Batch))
		return multiplied("cublasSgemmStridedBatched", status, p)
	})
}

// MultiplyAt queues products of tensors that lie anywhere.
func (g *gpu) MultiplyAt(pointers device.Buffer[uint64], p device.Product) error {
	return g.now("multiply", func() error {
		if err := g.library.open(); err != nil {
			return err
		}
		if err := g.holds("multiply", pointers.Memory()); err != nil {
			return err
		}
		if pointers.Len() != 3*p.Batch {
			return fmt.Errorf("multiply %d times: got %d addresses, want %d", p.Batch, pointers.Len(), 3*p.Batch)
		}
		table := func(i int) C.ulonglong { return C.ulonglong(pointers.Memory().Addr + uint64(8*i*p.Batch)) }
		if in, out, wide := dataTypes(p); !wide {
			status := C.flashlabCublasPointersEx(g.library.handle, in, out, flag(p.TransB), C.int(p.M), C.int(p.N), C.int(p.K), C.float(p.Scale),
				table(1), C.int(p.RowA), table(2), C.int(p.RowB), table(0), C.int(p.RowC), C.int(p.Batch))
			return multiplied("cublasGemmBatchedEx", status, p)
		}
		status := C.flashlabCublasPointers(g.library.handle, flag(p.TransB), C.int(p.M), C.int(p.N), C.int(p.K), C.float(p.Scale),
			table(1), C.int(p.RowA), table(2), C.int(p.RowB), table(0), C.int(p.RowC), C.int(p.Batch))
		return multiplied("cublasSgemmBatched", status, p)
	})
}

// dataTypes are a product's, as cudaDataType numbers them; wide is one of float32 alone.
func dataTypes(p device.Product) (in, out C.int, wide bool) {
	numbers := map[tensor.Type]C.int{tensor.Float32: 0, tensor.Float16: 2, tensor.BFloat16: 14}
	return numbers[p.Type], numbers[p.Out], p.Type == tensor.Float32
}

func multiplied(call string, status C.int, p device.Product) error {
	if status == 0 {
		return nil
	}
	return fmt.Errorf("%s of %+v: status %d", call, p, int(status))
}

func flag(is bool) C.int {
	if is {
		return 1
	}
	return 0
}

func at(m device.Memory) C.ulonglong { return C.ulonglong(m.Addr) }
