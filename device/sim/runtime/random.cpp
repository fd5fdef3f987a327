// random.cpp - XORWOW far ahead. A step is linear in the 160 bits of the state, so many steps are
// a power of one matrix: kept for each power of two, up to 2^67 times 2^63.
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

namespace {
typedef std::array<unsigned, 5> Bits;
struct Matrix {
    Bits column[160]; // what becomes of each bit
};
constexpr int sequence = 67, powers = sequence + 64;

Bits times(const Matrix &m, const Bits &v) {
    Bits r = {};
    for (int i = 0; i < 160; i++)
        if (v[(size_t)i / 32] >> (i % 32) & 1)
            for (size_t k = 0; k < 5; k++) r[k] ^= m.column[i][k];
    return r;
}

Bits step(const Bits &v) {
    unsigned t = v[0] ^ v[0] >> 2;
    return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
}

// power is the matrix of 2^n steps.
const Matrix &power(int n) {
    static std::mutex guard;
    static std::unique_ptr<Matrix> made[powers];
    std::lock_guard<std::mutex> hold(guard);
    for (int p = 0; p <= n; p++) {
        if (made[p]) continue;
        auto m = std::make_unique<Matrix>();
        for (int i = 0; i < 160; i++) {
            Bits one = {};
            one[(size_t)i / 32] = 1u << (i % 32);
            m->column[i] = p ? times(*made[p - 1], made[p - 1]->column[i]) : step(one);
        }
        made[p] = std::move(m);
    }
    return *made[n];
}
} // namespace

// n steps, or n sequences of 2^67.
extern "C" void simt_xorwow_jump(unsigned *v, unsigned long long n, int sequences) {
    Bits state;
    memcpy(state.data(), v, sizeof state);
    for (int p = sequences ? sequence : 0; n; n >>= 1, p++)
        if (n & 1) state = times(power(p), state);
    memcpy(v, state.data(), sizeof state);
}
