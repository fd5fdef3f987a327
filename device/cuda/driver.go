//go:build cuda

package cuda

// #cgo linux LDFLAGS: -ldl
// #include <cuda.h>
// int flashlabInitResult(void);
// int flashlabParamSize(void *function, size_t index, size_t *size);
import "C"

import (
	"os"
	"reflect"
	"strings"
	"unsafe"

	"gorgonia.org/cu"
)

// result is the driver's answer to a call that cu does not make.
type result C.CUresult

func (r result) Error() string {
	var name *C.char
	if C.cuGetErrorName(C.CUresult(r), &name) != C.CUDA_SUCCESS {
		return "an unknown error of the driver"
	}
	return C.GoString(name)
}

// Is makes it the same as what cu makes of that answer.
func (r result) Is(target error) bool {
	v := reflect.ValueOf(target)
	return v.Type() == reflect.TypeOf(cu.Success) && v.Int() == int64(r)
}

// check makes an error of a CUresult.
func check(r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return result(r)
}

// initError is what the driver said when the program was loaded.
func initError() error { return check(C.CUresult(C.flashlabInitResult())) }

// raw is the driver's handle in a cu.Function, whose only field it is.
func raw(fn cu.Function) C.CUfunction {
	return *(*C.CUfunction)(unsafe.Pointer(&fn))
}

// allowShared lets a kernel be launched with that much dynamic shared memory;
// unasked, CUDA allows 48 KB.
func allowShared(fn cu.Function, bytes int) error {
	return check(C.cuFuncSetAttribute(raw(fn), C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)))
}

// paramSizes lists the sizes of a kernel's parameters as they were compiled,
// or says that this driver cannot tell.
func paramSizes(fn cu.Function) (sizes []int, ok bool) {
	for {
		var size C.size_t
		switch C.flashlabParamSize(unsafe.Pointer(raw(fn)), C.size_t(len(sizes)), &size) {
		case C.CUDA_SUCCESS:
			sizes = append(sizes, int(size))
		case C.CUDA_ERROR_INVALID_VALUE: // past the last one
			return sizes, true
		default:
			return nil, false
		}
	}
}

// maxShared is the most shared memory that a block can be given.
func maxShared(d cu.Device) (int, error) {
	var bytes C.int
	err := check(C.cuDeviceGetAttribute(&bytes, C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, C.CUdevice(d)))
	return int(bytes), err
}

// driverRelease is the kernel driver's own version, "580.65.06"; "" where the
// system does not show it.
func driverRelease() string {
	text, err := os.ReadFile("/sys/module/nvidia/version")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
