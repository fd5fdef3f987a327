// mathematics.cpp - the C library's functions that read or write where a pointer says. The linker
// sends a module's calls of them here (--wrap; calls.go), so that what they touch is checked and
// counted as an access of the kernel's own. The library sees only variables of ours.
#include <cmath>

#include "access.h"

using simt::access;
using simt::Addr;

namespace {
// put stores a result as the kernel itself would.
template <class T> INLINE void put(T *to, T v, Addr pc) {
    access<sizeof(T), simt::WRITE>((Addr)to, pc);
    *to = v;
}

// Tag is a NaN's text, read byte by byte up to its end. More than fits says nothing.
struct Tag {
    char text[32] = {};
    INLINE Tag(const char *from, Addr pc) {
        for (size_t n = 0; n + 1 < sizeof text; n++) {
            access<1, simt::READ>((Addr)(from + n), pc);
            if (!(text[n] = from[n])) break;
        }
    }
};
} // namespace

extern "C" {
#define CALLER ((Addr)__builtin_return_address(0))
#define OF_POINTERS(T, f)                                                                          \
    T __wrap_frexp##f(T x, int *exponent) {                                                        \
        int e;                                                                                     \
        T fraction = frexp##f(x, &e);                                                              \
        put(exponent, e, CALLER);                                                                  \
        return fraction;                                                                           \
    }                                                                                              \
    T __wrap_modf##f(T x, T *whole) {                                                              \
        T w, fraction = modf##f(x, &w);                                                            \
        put(whole, w, CALLER);                                                                     \
        return fraction;                                                                           \
    }                                                                                              \
    T __wrap_remquo##f(T x, T y, int *quotient) {                                                  \
        int q = 0;                                                                                 \
        T rest = remquo##f(x, y, &q);                                                              \
        put(quotient, q, CALLER);                                                                  \
        return rest;                                                                               \
    }                                                                                              \
    void __wrap_sincos##f(T x, T *sine, T *cosine) {                                               \
        T s, c;                                                                                    \
        sincos##f(x, &s, &c);                                                                      \
        put(sine, s, CALLER);                                                                      \
        put(cosine, c, CALLER);                                                                    \
    }                                                                                              \
    T __wrap_nan##f(const char *tag) {                                                             \
        return nan##f(Tag(tag, CALLER).text);                                                      \
    }
OF_POINTERS(double, )
OF_POINTERS(float, f)
}
