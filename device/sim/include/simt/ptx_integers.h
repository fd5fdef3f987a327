// ptx_integers.h - what ptx.h has for integers that C++ has no operator for.
#pragma once

namespace simt::ptx {
// Sums and differences with a carry: .cc.
template <class T> SIMT_INLINE T addCarry(T a, T b, bool carry, bool &out) {
    T some = a + b, all = some + carry;
    out = some < a || all < some;
    return all;
}
template <class T> SIMT_INLINE T subtractCarry(T a, T b, bool borrow, bool &out) {
    T some = a - b, all = some - borrow;
    out = some > a || all > some;
    return all;
}
// The place of the highest bit that differs from the sign, or all ones.
template <class T> SIMT_INLINE unsigned highest(T v, bool fromTop) {
    constexpr unsigned all = 8 * sizeof(T);
    std::make_unsigned_t<T> u = v < 0 ? ~v : v;
    if (u == 0) return ~0u;
    unsigned at = 63 - (unsigned)__builtin_clzll(u);
    return fromTop ? all - 1 - at : at;
}
template <class T> SIMT_INLINE bool isSubnormal(T v) {
    return v != 0 && v - v == 0 && !__builtin_isnormal(v);
}
} // namespace simt::ptx
