// undefined.h - what a declaration leaves undefined is NaN. What compilers fill in may be finite,
// and exp(-INFINITY) times that is the 0 that a right kernel would have had. The build step writes
// calls behind such declarations (undefined.go).
#pragma once

namespace simt {
// All bits set are NaN in every format. These are stores in a row, no memset and no loop: an array
// whose address a call gets has a hook for each of its accesses from then on, and a loop has steps.
typedef unsigned NaN16 __attribute__((vector_size(16), aligned(1)));
typedef uint64_t NaN8 __attribute__((aligned(1)));
typedef uint32_t NaN4 __attribute__((aligned(1)));
typedef uint16_t NaN2 __attribute__((aligned(1)));
SIMT_INLINE void setNaN(char *x) {
    *(NaN16 *)x = NaN16{~0u, ~0u, ~0u, ~0u};
}
template <size_t BYTES, size_t... I> SIMT_INLINE void allNaN(char *x, std::index_sequence<I...>) {
    (setNaN(x + 16 * I), ...);
    if constexpr (BYTES & 8) *(NaN8 *)(x + (BYTES & ~15)) = -1;
    if constexpr (BYTES & 4) *(NaN4 *)(x + (BYTES & ~7)) = -1;
    if constexpr (BYTES & 2) *(NaN2 *)(x + (BYTES & ~3)) = -1;
    if constexpr (BYTES & 1) *(x + (BYTES & ~1)) = -1;
}

template <class T> SIMT_INLINE void undefined(T &x) {
    using Element = std::remove_all_extents_t<T>;
    constexpr size_t bytes = sizeof x;
    char *at = (char *)__builtin_addressof(x);
    if constexpr (std::is_floating_point_v<T>)
        x = __builtin_nan("");
    else if constexpr (!std::is_floating_point_v<Element> &&
                       !(std::is_class_v<Element> &&
                         std::is_trivially_default_constructible_v<Element>))
        return; // a template's parameter that is none of these, or what its constructor has filled
    else if constexpr (bytes <= 4096)
        allNaN<bytes>(at, std::make_index_sequence<bytes / 16>());
    else
        __builtin_memset(at, 0xff, bytes);
}
} // namespace simt
