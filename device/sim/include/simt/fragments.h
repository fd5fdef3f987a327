// fragments.h - which elements of a wmma matrix each lane holds. CUDA leaves it
// open; here it is what the hardware's own instruction (m16n8k16) does: tiles
// of 8 rows, in each of which a lane holds a run of one or two neighbours.
#pragma once

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
} // namespace precision

namespace simt_detail {
template <class T> constexpr bool isTf32 = std::is_same_v<T, precision::tf32>;
template <class T> constexpr bool isHalf = std::is_same_v<T, __half>;
template <class T> constexpr bool isFactor = isHalf<T> || std::is_same_v<T, __nv_bfloat16>;

template <class T>
constexpr bool isByte = std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;

template <class Use, int M, int N, int K, class T> constexpr bool exists() {
    bool shape = (M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32);
    if (std::is_same_v<T, double>) return M == 8 && N == 8 && K == 4;
    if (std::is_same_v<Use, accumulator> ? std::is_same_v<T, int> : isByte<T>)
        return shape && K == 16;
    if constexpr (std::is_same_v<Use, accumulator>)
        return (std::is_same_v<T, float> &&
                ((shape && K == 16) || (M == 16 && N == 16 && K == 8))) ||
               (isHalf<T> && shape && K == 16);
    else
        return (isFactor<T> && shape && K == 16) || (isTf32<T> && M == 16 && N == 16 && K == 8);
}
} // namespace simt_detail

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static_assert(simt_detail::exists<Use, M, N, K, T>(),
                  "the simulator's wmma has 16x16x16, 32x8x16 and 8x32x16 of half and "
                  "__nv_bfloat16, and 16x16x8 of precision::tf32, with float accumulators (for "
                  "half also half ones), the first three of signed and unsigned char with int "
                  "ones, and 8x8x4 of double");
    static_assert(std::is_same_v<Layout, void> == std::is_same_v<Use, accumulator>,
                  "a matrix_a or matrix_b fragment has a layout, row_major or col_major; an "
                  "accumulator has none");
    typedef T element_type;
    typedef std::conditional_t<simt_detail::isTf32<T>, float, T> storage_element_type;

    static constexpr bool isA = std::is_same_v<Use, matrix_a>, isB = std::is_same_v<Use, matrix_b>;
    static constexpr int rows = isB ? K : M, columns = isA ? K : N;
    static constexpr int own = rows * columns / 32; // elements of a lane
    static constexpr int num_elements = simt_detail::isHalf<T> && (isA || isB) ? 16 : own;
    static constexpr int num_storage_elements = num_elements;
    storage_element_type x[num_elements];

    // A lane's neighbours lie along a row of a and of an accumulator, along a column of b.
    static constexpr bool isDouble = std::is_same_v<T, double>;
    static constexpr int run = simt_detail::isTf32<T> || (isDouble && (isA || isB)) ? 1 : 2;
    static constexpr bool runsDown = isB;
    SIMT_INLINE constexpr int along(int lane, int i) { return lane % 4 * run + i % run; }
    SIMT_INLINE constexpr int across(int lane) { return lane / 4; }

    // Tiles follow one another downwards, then to the right.
    static constexpr int tileRows = isB ? 4 * run : 8, tileColumns = isB ? 8 : 4 * run;
    static constexpr int tilesDown = rows / tileRows;
    SIMT_INLINE constexpr int row(int lane, int i) {
        return i / run % tilesDown * tileRows + (isB ? along(lane, i) : across(lane));
    }
    SIMT_INLINE constexpr int column(int lane, int i) {
        return i / run / tilesDown * tileColumns + (isB ? across(lane) : along(lane, i));
    }

    // What the product uses of an element: the hardware drops the bits that tf32 lacks.
    typedef std::conditional_t<isDouble, double, float> Factor;
    SIMT_UNSEEN static Factor factor(storage_element_type v) {
        if constexpr (isDouble)
            return v;
        else if constexpr (simt_detail::isTf32<T>)
            return simt::bits<float>(simt::bits<uint32_t>(v) & 0xffffe000u);
        else
            return (float)v;
    }
};

} // namespace nvcuda::wmma
