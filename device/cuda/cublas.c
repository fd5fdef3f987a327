//go:build cuda

// NVIDIA's library of dense products, loaded when it is wanted: a program that
// multiplies nothing by it runs, and is built, where there is none.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

// By the library's stable interface: cublasOperation_t and cublasStatus_t.
enum { N = 0, T = 1, SUCCESS = 0, NO_FUNCTION = -1 };

typedef int (*Create)(void **handle);
typedef int (*Version)(void *handle, int *version);
typedef int (*Strided)(void *handle, int opA, int opB, int m, int n, int k, const float *alpha,
                       const float *a, int lda, long long nextA, const float *b, int ldb,
                       long long nextB, const float *beta, float *c, int ldc, long long nextC,
                       int batch);
typedef int (*Pointers)(void *handle, int opA, int opB, int m, int n, int k, const float *alpha,
                        const float *const *a, int lda, const float *const *b, int ldb,
                        const float *beta, float *const *c, int ldc, int batch);

typedef int (*StridedEx)(void *handle, int opA, int opB, int m, int n, int k, const void *alpha,
                         const void *a, int typeA, int lda, long long nextA, const void *b,
                         int typeB, int ldb, long long nextB, const void *beta, void *c, int typeC,
                         int ldc, long long nextC, int batch, int compute, int algorithm);
typedef int (*PointersEx)(void *handle, int opA, int opB, int m, int n, int k, const void *alpha,
                          const void *const *a, int typeA, int lda, const void *const *b,
                          int typeB, int ldb, const void *beta, void *const *c, int typeC, int ldc,
                          int batch, int compute, int algorithm);

// cublasComputeType_t and cublasGemmAlgo_t: sums in float32, and the library's choice.
enum { IN_FLOAT32 = 68, ANY = -1 };

static void *library;

static int load(const char *path, char *error, size_t size) {
    library = dlopen(path, RTLD_NOW);
    if (library) return 1;
    snprintf(error, size, "%s", dlerror());
    return 0;
}

// flashlabCublasOpen makes a handle in the current context.
int flashlabCublasOpen(const char *path, void **handle, int *version, char *error, size_t size) {
    if (!library && !load(path, error, size)) return NO_FUNCTION;
    Create create = (Create)dlsym(library, "cublasCreate_v2");
    Version ask = (Version)dlsym(library, "cublasGetVersion_v2");
    if (!create || !ask) {
        snprintf(error, size, "%s has no cublasCreate_v2", path);
        return NO_FUNCTION;
    }
    int status = create(handle);
    if (status == SUCCESS) status = ask(*handle, version);
    snprintf(error, size, "cublasCreate: status %d", status);
    return status;
}

// The library is column-major: a row-major c = a · b is its cᵀ = bᵀ · aᵀ.
// Device addresses are passed as numbers, so that Go never holds a foreign pointer.
int flashlabCublasStrided(void *handle, int transB, int m, int n, int k, float scale,
                          unsigned long long a, int rowA, long long nextA, unsigned long long b,
                          int rowB, long long nextB, unsigned long long c, int rowC,
                          long long nextC, int batch) {
    Strided multiply = (Strided)dlsym(library, "cublasSgemmStridedBatched");
    const float zero = 0;
    if (!multiply) return NO_FUNCTION;
    return multiply(handle, transB ? T : N, N, n, m, k, &scale, (const float *)b, rowB, nextB,
                    (const float *)a, rowA, nextA, &zero, (float *)c, rowC, nextC, batch);
}

int flashlabCublasPointers(void *handle, int transB, int m, int n, int k, float scale,
                           unsigned long long a, int rowA, unsigned long long b, int rowB,
                           unsigned long long c, int rowC, int batch) {
    Pointers multiply = (Pointers)dlsym(library, "cublasSgemmBatched");
    const float zero = 0;
    if (!multiply) return NO_FUNCTION;
    return multiply(handle, transB ? T : N, N, n, m, k, &scale, (const float *const *)b, rowB,
                    (const float *const *)a, rowA, &zero, (float *const *)c, rowC, batch);
}

// The same for other types: cudaDataType of what is multiplied, and of the products.
int flashlabCublasStridedEx(void *handle, int type, int out, int transB, int m, int n, int k,
                            float scale, unsigned long long a, int rowA, long long nextA,
                            unsigned long long b, int rowB, long long nextB, unsigned long long c,
                            int rowC, long long nextC, int batch) {
    StridedEx multiply = (StridedEx)dlsym(library, "cublasGemmStridedBatchedEx");
    const float zero = 0;
    if (!multiply) return NO_FUNCTION;
    return multiply(handle, transB ? T : N, N, n, m, k, &scale, (const void *)b, type, rowB, nextB,
                    (const void *)a, type, rowA, nextA, &zero, (void *)c, out, rowC, nextC, batch,
                    IN_FLOAT32, ANY);
}

int flashlabCublasPointersEx(void *handle, int type, int out, int transB, int m, int n, int k,
                             float scale, unsigned long long a, int rowA, unsigned long long b,
                             int rowB, unsigned long long c, int rowC, int batch) {
    PointersEx multiply = (PointersEx)dlsym(library, "cublasGemmBatchedEx");
    const float zero = 0;
    if (!multiply) return NO_FUNCTION;
    return multiply(handle, transB ? T : N, N, n, m, k, &scale, (const void *const *)b, type, rowB,
                    (const void *const *)a, type, rowA, &zero, (void *const *)c, out, rowC, batch,
                    IN_FLOAT32, ANY);
}
