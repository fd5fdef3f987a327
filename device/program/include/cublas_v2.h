// cublas_v2.h - the few calls of cuBLAS that small programs make, by plain loops over the device's
// memory. Others compile, and end the program with their name.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#define CUBLAS_API_H_ 1

typedef struct cublasContext *cublasHandle_t;
typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16,
} cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_COMPUTE_64F = 70,
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef enum { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 } cudaDataType_t;
typedef cudaDataType_t cudaDataType;

extern "C" {
void simt_refuse(const char *name);
int simt_gemm(const char *what, int wide, int ta, int tb, int m, int n, int k, double alpha,
              const void *a, int lda, const void *b, int ldb, double beta, void *c, int ldc);
}

static inline cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    *handle = (cublasHandle_t)1;
    return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasDestroy(cublasHandle_t) {
    return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
    return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
    return CUBLAS_STATUS_SUCCESS;
}

#define SIMT_GEMM(letter, T, wide)                                                                 \
    SIMT_UNSEEN static inline cublasStatus_t cublas##letter##gemm(                                 \
        cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,           \
        const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc,    \
        simt::Site site = simt::Site::here()) {                                                    \
        site.enter();                                                                              \
        return (cublasStatus_t)simt_gemm("cublas" #letter "gemm", wide, ta, tb, m, n, k, *alpha,   \
                                         a, lda, b, ldb, *beta, c, ldc);                           \
    }                                                                                              \
    SIMT_UNSEEN static inline cublasStatus_t cublas##letter##gemmStridedBatched(                   \
        cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,           \
        const T *alpha, const T *a, int lda, long long as, const T *b, int ldb, long long bs,      \
        const T *beta, T *c, int ldc, long long cs, int count,                                     \
        simt::Site site = simt::Site::here()) {                                                    \
        site.enter();                                                                              \
        for (int i = 0; i < count; i++)                                                            \
            if (int e =                                                                            \
                    simt_gemm("cublas" #letter "gemmStridedBatched", wide, ta, tb, m, n, k,        \
                              *alpha, a + i * as, lda, b + i * bs, ldb, *beta, c + i * cs, ldc))   \
                return (cublasStatus_t)e;                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    SIMT_UNSEEN static inline cublasStatus_t cublas##letter##gemv(                                 \
        cublasHandle_t, cublasOperation_t ta, int m, int n, const T *alpha, const T *a, int lda,   \
        const T *x, int incx, const T *beta, T *y, int incy,                                       \
        simt::Site site = simt::Site::here()) {                                                    \
        site.enter();                                                                              \
        if (incx != 1 || incy != 1) simt_refuse("cublas" #letter "gemv with increments");          \
        int rows = ta ? n : m, columns = ta ? m : n;                                               \
        return (cublasStatus_t)simt_gemm("cublas" #letter "gemv", wide, ta, 0, rows, 1, columns,   \
                                         *alpha, a, lda, x, columns, *beta, y, rows);              \
    }                                                                                              \
    SIMT_UNSEEN static inline cublasStatus_t cublas##letter##axpy(                                 \
        cublasHandle_t, int n, const T *alpha, const T *x, int incx, T *y, int incy,               \
        simt::Site site = simt::Site::here()) {                                                    \
        site.enter();                                                                              \
        if (incx != 1 || incy != 1) simt_refuse("cublas" #letter "axpy with increments");          \
        const T one = 1;                                                                           \
        return (cublasStatus_t)simt_gemm("cublas" #letter "axpy", wide, 0, 0, n, 1, 1, *alpha, x,  \
                                         n, &one, -1, 1, y, n);                                    \
    }
SIMT_GEMM(S, float, 0)
SIMT_GEMM(D, double, 1)
#undef SIMT_GEMM

#define SIMT_REFUSED(name)                                                                         \
    template <class... A> __attribute__((noinline)) cublasStatus_t name(A...) {                    \
        simt_refuse(#name);                                                                        \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                        \
    }
SIMT_REFUSED(cublasGemmEx)
SIMT_REFUSED(cublasGemmStridedBatchedEx)
SIMT_REFUSED(cublasHgemm)
SIMT_REFUSED(cublasSgemmBatched)
SIMT_REFUSED(cublasSdot)
SIMT_REFUSED(cublasSnrm2)
SIMT_REFUSED(cublasSscal)
SIMT_REFUSED(cublasSetPointerMode)
