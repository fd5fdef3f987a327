// mma.h - nvcuda::wmma: matrix products by a whole warp. Each lane holds its
// part of every matrix, as on the hardware, and loads and stores only that; for
// the product the last lane to arrive computes for all.
#pragma once
#include "simt.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include "simt/fragments.h"

extern "C" {
// c += a · b, all row-major; each element is summed in double. The names tell the
// counts how many products there are.
void simt_multiply_4096(int m, int n, int k, const float *a, const float *b, double *c);
void simt_multiply_2048(int m, int n, int k, const float *a, const float *b, double *c);
// Room for the matrices of one product: on the stack of the lane that computes for all they
// would count as its local memory.
void *simt_matrix_room();
// One thread's fragment is checked and counted where it is no local variable.
void simt_fragment(const void *p, unsigned bytes, int written);
void simt_check_matrix(const void *p, unsigned stride, int size, int line);
}

namespace nvcuda::wmma {

enum layout_t { mem_row_major, mem_col_major };

template <class F> SIMT_INLINE void fill_fragment(F &f, typename F::storage_element_type v) {
    for (int i = 0; i < F::num_elements; i++) f.x[i] = v;
}

namespace simt_detail {
SIMT_UNSEEN __attribute__((noinline)) static void meet(void *const *) {}

// together: all lanes have to be here, whatever their warp did before.
SIMT_INLINE void together(const char *what, int line) {
    simt::simt_together(~0u, {meet, nullptr, what}, line);
}

// Two neighbours in memory move as one access, as the hardware moves them.
template <class F, class T>
SIMT_INLINE void load(F &f, const T *p, unsigned stride, bool columns, int line) {
    simt_check_matrix(p, stride, sizeof(T), line);
    together("wmma::load_matrix_sync", line);
    int lane = (int)simt_lane();
    constexpr int own = F::own;
    for (int i = 0; i < own; i += F::run) {
        int row = F::row(lane, i), column = F::column(lane, i);
        if (F::run == 2 && columns == F::runsDown) {
            typedef typename simt::WideOf<2 * sizeof(T)>::type Wide;
            Wide both =
                *(const Wide *)(columns ? p + column * stride + row : p + row * stride + column);
            __builtin_memcpy((void *)&f.x[i], &both, sizeof both);
            continue;
        }
        for (int j = i; j < i + F::run; j++) {
            row = F::row(lane, j), column = F::column(lane, j);
            f.x[j] = columns ? p[column * stride + row] : p[row * stride + column];
        }
    }
    // On the hardware some fragments hold every element more than once.
    for (int i = own; i < F::num_elements; i++) f.x[i] = f.x[i - own];
}

template <class F, class T>
SIMT_INLINE void store(T *p, const F &f, unsigned stride, bool columns, int line) {
    simt_check_matrix(p, stride, sizeof(T), line);
    together("wmma::store_matrix_sync", line);
    int lane = (int)simt_lane();
    for (int i = 0; i < F::own; i += F::run) {
        int row = F::row(lane, i), column = F::column(lane, i);
        if (F::run == 2 && columns == F::runsDown) {
            typedef typename simt::WideOf<2 * sizeof(T)>::type Wide;
            Wide both;
            __builtin_memcpy(&both, (const void *)&f.x[i], sizeof both);
            *(Wide *)(columns ? p + column * stride + row : p + row * stride + column) = both;
            continue;
        }
        for (int j = i; j < i + F::run; j++) {
            row = F::row(lane, j), column = F::column(lane, j);
            (columns ? p[column * stride + row] : p[row * stride + column]) = f.x[j];
        }
    }
}

template <class A, class B, class C, class D> struct Product {
    const A *a;
    const B *b;
    const C *c;
    D *d;
    bool saturate;

    SIMT_UNSEEN __attribute__((noinline)) static void compute(void *const *lanes) {
        constexpr int m = A::rows, k = A::columns, n = B::columns;
        typedef typename A::Factor Factor;
        Factor *left = (Factor *)simt_matrix_room(), *right = left + m * k;
        double *sum = (double *)(right + k * n);
        for (int l = 0; l < 32; l++) {
            const Product &p = *(const Product *)lanes[l];
            for (int i = 0; i < A::own; i++)
                left[A::row(l, i) * k + A::column(l, i)] = A::factor(p.a->x[i]);
            for (int i = 0; i < B::own; i++)
                right[B::row(l, i) * n + B::column(l, i)] = B::factor(p.b->x[i]);
            for (int i = 0; i < C::own; i++)
                sum[C::row(l, i) * n + C::column(l, i)] = wide(p.c->x[i]);
        }
        if constexpr (A::isDouble) {
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++)
                    for (int q = 0; q < k; q++)
                        sum[i * n + j] =
                            __builtin_fma(left[i * k + q], right[q * n + j], sum[i * n + j]);
        } else {
            static_assert(m * n * k == 4096 || m * n * k == 2048, "a name for each size");
            (m * n * k == 4096 ? simt_multiply_4096 : simt_multiply_2048)(m, n, k, left, right,
                                                                          sum);
        }
        for (int l = 0; l < 32; l++) {
            Product &p = *(Product *)lanes[l];
            for (int i = 0; i < D::own; i++)
                p.d->x[i] = narrow(sum[D::row(l, i) * n + D::column(l, i)], p.saturate);
        }
    }
    typedef typename D::storage_element_type Out;
    template <class T> SIMT_UNSEEN static double wide(T v) {
        if constexpr (std::is_arithmetic_v<T>)
            return v;
        else
            return (float)v;
    }
    // A sum of integers wraps around, or stays at the largest if it was asked to.
    SIMT_UNSEEN static Out narrow(double v, bool saturate) {
        if constexpr (std::is_same_v<Out, int>)
            return saturate ? simt::toInteger<int>(v, 0) : (int)(long long)v;
        else
            return Out(v);
    }
};
} // namespace simt_detail

template <class Use, int M, int N, int K, class T, class Layout, class P>
SIMT_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const P *p, unsigned stride,
                                  int line = __builtin_LINE()) {
    static_assert(
        !std::is_same_v<Use, accumulator>,
        "load_matrix_sync of an accumulator needs a layout: mem_row_major or mem_col_major");
    static_assert(
        std::is_same_v<P, typename fragment<Use, M, N, K, T, Layout>::storage_element_type>,
        "load_matrix_sync: the pointer's type is not the fragment's");
    simt_detail::load(f, p, stride, std::is_same_v<Layout, col_major>, line);
}
template <int M, int N, int K, class T>
SIMT_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *p, unsigned stride,
                                  layout_t layout, int line = __builtin_LINE()) {
    simt_detail::load(f, p, stride, layout == mem_col_major, line);
}
template <int M, int N, int K, class T>
SIMT_INLINE void store_matrix_sync(T *p, const fragment<accumulator, M, N, K, T> &f,
                                   unsigned stride, layout_t layout, int line = __builtin_LINE()) {
    simt_detail::store(p, f, stride, layout == mem_col_major, line);
}

// d = a · b + c; d may be c. Products are exact, and each sum is rounded once.
template <int M, int N, int K, class T, class LA, class LB, class C, class D>
SIMT_INLINE void
mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, T, LA> &a,
         const fragment<matrix_b, M, N, K, T, LB> &b, const fragment<accumulator, M, N, K, C> &c,
         bool saturate = false, int line = __builtin_LINE()) {
    using P =
        simt_detail::Product<fragment<matrix_a, M, N, K, T, LA>, fragment<matrix_b, M, N, K, T, LB>,
                             fragment<accumulator, M, N, K, C>, fragment<accumulator, M, N, K, D>>;
    simt_fragment(&a, sizeof a, 0);
    simt_fragment(&b, sizeof b, 0);
    simt_fragment(&c, sizeof c, 0);
    simt_fragment(&d, sizeof d, 1);
    P mine = {&a, &b, &c, &d, saturate};
    simt::simt_together(~0u, {P::compute, &mine, "wmma::mma_sync"}, line);
}

// Round to the nearest of tf32's 10 bits of fraction, ties away from zero.
SIMT_INLINE float __float_to_tf32(float f) {
    uint32_t u = simt::bits<uint32_t>(f);
    if (f - f != 0) return f; // infinity, NaN
    return simt::bits<float>((u + 0x1000u) & 0xffffe000u);
}

} // namespace nvcuda::wmma
