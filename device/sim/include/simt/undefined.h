// undefined.h - what a declaration leaves undefined is NaN. g++ would fill it with bytes of 0xfe: as
// floats these are finite, and exp(-INFINITY) times one is the 0 that a right kernel would have had.
// The build step writes the calls behind such declarations (undefined.go).
#pragma once

namespace simt {
template <class T> SIMT_INLINE void undefined(T &x) {
    using Element = std::remove_all_extents_t<T>;
    if constexpr (std::is_floating_point_v<T>)
        x = __builtin_nan("");
    else if constexpr (std::is_floating_point_v<Element> ||
                       std::is_class_v<Element> && std::is_trivially_default_constructible_v<Element>)
        __builtin_memset((void *)__builtin_addressof(x), 0xff, sizeof x); // NaN in every format
}
} // namespace simt
