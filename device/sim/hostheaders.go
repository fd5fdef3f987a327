package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"flashlab/device"
)

// hostHeaders are those that a .cu file includes for its host side: libraries that
// prepare, launch and compare. They are empty here, and what kernels name of them is an error
// where they do.
var hostHeaders = regexp.MustCompile(`^(?:` +
	`cub(?:las|lasLt|las_v2|lasXt|las_api)\.h|cudnn\w*\.h|cufft\w*\.h|cusparse\w*\.h|cusolver\w*\.h|curand\.h|nccl\.h|npp\w*\.h|nv(?:ml|rtc|jpeg|ToolsExt)\.h|nvtx3/.*|` +
	`cuda(?:_profiler_api|_gl_interop|_egl_interop|_d3d\d+_interop|_vdpau_interop|GL|EGL|ProfilerTypedefs|_occupancy|Typedefs|d3d\d+)\.h|cudla\.h|driver_(?:types|functions)\.h|builtin_types\.h|` +
	`cuda_device_runtime_api\.h|` +
	`(?:torch|ATen|c10|pybind11|thrust|cub|cutlass|cute|opencv2|boost|GL|GLES\w*|GLUT|EGL|vulkan|X11|OpenGL|d3d\w*|DirectX\w*|rendercheck_\w+|nvsci\w*|cudnn_frontend)/.*|` +
	`(?:helper_\w+|exception|multithreading|nvrtc_helper|drvapi_error_string|rendercheck_\w+|dynlink_\w+|nvsci\w*|nvmedia_\w+|DirectXMath|d3d\w*|D3D\w*|dxgi\w*|FreeImage\w*)\.h|cudnn_frontend\.h|` +
	`mpi\.h|omp\.h|drm_fourcc\.h|xf86drm\w*\.h|gbm\.h|windows\.h|windowsx\.h|pthread\.h|GLFW/.*|GL\.h|cuda_awbarrier_helpers\.h` +
	`)$`)

var noSuchFile = regexp.MustCompile(`(?m)^(\S+?):(\d+):(?:\d+:)? fatal error: '?([\w./+-]+)'?(?:: No such file or directory| file not found)$`)

// torch is of PyTorch's headers, which have its scalar types once FLASHLAB_TORCH is defined.
var torch = regexp.MustCompile(`^(?:torch|ATen|c10)/`)

var mathLibrary = regexp.MustCompile(`^cu(?:blas|dnn|sparse|solver|fft)\w*\.h$|^torch/`)

// absent is the folder of the host's headers, empty ones, in a build's folder.
const absent = "absent"

// emptyHeader makes the header that a preprocessor has missed, if it is the host's, and
// returns its name.
func emptyHeader(dir, output string) string {
	m := noSuchFile.FindStringSubmatch(output)
	if m == nil || !hostHeaders.MatchString(m[3]) {
		return ""
	}
	path := filepath.Join(dir, absent, m[3])
	if _, err := os.Stat(path); err == nil {
		return ""
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return ""
	}
	text := "#pragma once\n"
	if torch.MatchString(m[3]) {
		text += "#ifdef FLASHLAB_TORCH\n#include <flashlab_torch.h>\n#endif\n"
	}
	if mathLibrary.MatchString(m[3]) { // kernels count on what these include
		text += "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuComplex.h>\n"
	}
	if strings.HasPrefix(m[3], "cufft") {
		text += "typedef float cufftReal;\ntypedef double cufftDoubleReal;\n" +
			"typedef cuComplex cufftComplex;\ntypedef cuDoubleComplex cufftDoubleComplex;\n"
		for letter, number := range map[string]string{"C": "cufftComplex", "Z": "cufftDoubleComplex", "R": "cufftReal", "D": "cufftDoubleReal"} {
			text += fmt.Sprintf("typedef %[1]s (*cufftCallbackLoad%[2]s)(void *, size_t, void *, void *);\n"+
				"typedef void (*cufftCallbackStore%[2]s)(void *, size_t, %[1]s, void *, void *);\n", number, letter)
		}
	}
	if os.WriteFile(path, []byte(device.GuardedHeader(text)), 0o644) != nil {
		return ""
	}
	return m[3]
}
