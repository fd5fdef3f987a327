//go:build cuda

// What gorgonia.org/cu lacks or does badly, straight on the driver.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

// A CUresult; cuda.h is left out here because it declares cuInit otherwise
// visible.
enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3 };

// flashlabDriver finds a function of the driver by name, or NULL.
void *flashlabDriver(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

static int initResult = NOT_INITIALIZED;

// cu calls cuInit as it is loaded, and ends the process where that fails: a
// program built for CUDA could not even say that there is no GPU. The linker
// prefers this function to the driver's. It remembers the result for Open and
// reports success; nothing else of cu runs before Open has looked.
// Hidden, so that the driver itself never meets it.
__attribute__((visibility("hidden"))) int cuInit(unsigned int flags) {
    int (*real)(unsigned int) = (int (*)(unsigned int))flashlabDriver("cuInit");
    if (real) initResult = real(flags);
    return SUCCESS;
}

int flashlabInitResult(void) { return initResult; }

// flashlabParamSize is cuFuncGetParamInfo, which drivers have since CUDA 12.4.
int flashlabParamSize(void *function, size_t index, size_t *size) {
    static int (*real)(void *, size_t, size_t *, size_t *);
    static int looked;
    size_t offset;
    if (!looked) {
        real = (int (*)(void *, size_t, size_t *, size_t *))flashlabDriver(
            "cuFuncGetParamInfo");
        looked = 1;
    }
    return real ? real(function, index, &offset, size) : NOT_INITIALIZED;
}
