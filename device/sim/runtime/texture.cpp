// texture.cpp - what a texture's unit does: from a place to texels, each an access that is checked
// and counted like others, and to their mean.
#include "texture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "hopper.h"

using namespace simt;

namespace {
enum Outside { Wrap, Clamp, Mirror, Border };

const char *const kinds[] = {"unsigned", "signed", "floating-point"};

std::string described(int members, int bytes, int kind) {
    return std::to_string(members) + (members == 1 ? " number" : " numbers") + " of " +
           std::to_string(8 * bytes) + " bits, " + kinds[kind];
}

// possible tells whether Go can have written it: kernels may have written over it since.
bool possible(const Texture &t) {
    auto one = [](int n, int most) { return n == 1 || n == 2 || (n == 4 && most == 4); };
    uint64_t texels = (uint64_t)t.size[0] * std::max(t.size[1], 1u);
    return t.mark == Texture::right && one(t.bytes, t.fractions ? 2 : 4) && one(t.members, 4) &&
           t.kind <= 2 && !(t.kind == 2 && (t.bytes == 1 || t.fractions)) && t.outside <= Border &&
           t.dimensions >= 1 && t.dimensions <= 3 && t.size[0] && texels < 1ull << 40 &&
           t.size[2] < 1u << 16;
}

// textureAt is the texture of a handle. It is copied, for the kernel may change it.
Texture textureAt(Worker *w, Addr handle, const char *name, Addr pc) {
    Texture t;
    bool there = arena.holds(handle) && arena.holds(handle + sizeof t - 1) && handle % 8 == 0 &&
                 (arena.state[handle - arena.lo] & LIVE);
    if (there) memcpy(&t, (const void *)handle, sizeof t);
    if (!there || !possible(t))
        refuseHopper(w, "no texture", 0,
                     std::string(name) + ": the object is none: pass a device.Texture for it", pc);
    return t;
}

// needTexels compares what a fetch gives with what is there.
void needTexels(Worker *w, const Texture &t, const char *name, int bytes, int kind, int members,
                Addr pc) {
    bool floats = t.fractions || t.kind == 2;
    bool right = members == t.members &&
                 (floats ? kind == 2 && bytes == 4 : kind == t.kind && bytes == t.bytes);
    if (!right)
        refuseHopper(w, "bad texture", 0,
                     std::string(name) + " is to give " + described(members, bytes, kind) +
                         "; the texture has " +
                         (floats ? described(t.members, 4, 2) +
                                       (t.fractions ? " (integers read as fractions)" : "")
                                 : described(t.members, t.bytes, t.kind)),
                     pc);
}

void needDimensions(Worker *w, const Texture &t, const char *name, int dimensions, bool layers,
                    Addr pc) {
    if ((int)t.dimensions == dimensions && t.layered == layers) return;
    refuseHopper(w, "bad texture", 0,
                 std::string(name) + ": the texture has " + std::to_string(t.dimensions) +
                     (t.dimensions == 1 ? " dimension" : " dimensions") +
                     (t.layered ? " and layers" : ""),
                 pc);
}

// inside is where a texel's index leads in its dimension, or -1.
int64_t inside(int64_t i, int64_t n, int outside) {
    if (i >= 0 && i < n) return i;
    if (outside == Border) return -1;
    if (outside == Clamp) return i < 0 ? 0 : n - 1;
    int64_t period = outside == Wrap ? n : 2 * n, at = ((i % period) + period) % period;
    return at < n ? at : 2 * n - 1 - at;
}

struct Values {
    double v[4] = {0, 0, 0, 0};     // of floating-point numbers and fractions
    uint32_t raw[4] = {0, 0, 0, 0}; // of integers
};

double ofHalf(uint16_t h) {
    int exponent = h >> 10 & 31, bits = h & 1023;
    double v = exponent == 31  ? (bits ? NAN : INFINITY)
               : exponent == 0 ? std::ldexp(bits, -24)
                               : std::ldexp(bits + 1024, exponent - 25);
    return h >> 15 ? -v : v;
}

double number(const Texture &t, uint32_t raw) {
    if (t.kind == 2 && t.bytes == 2) return ofHalf((uint16_t)raw);
    if (t.kind == 2) {
        float f;
        memcpy(&f, &raw, sizeof f);
        return f;
    }
    double most = t.kind == 0 ? (1u << 8 * t.bytes) - 1 : (1u << (8 * t.bytes - 1)) - 1;
    if (t.kind == 0) return raw / most;
    int32_t v = t.bytes == 1 ? (int8_t)raw : (int16_t)raw;
    return std::max(v / most, -1.0);
}

// read makes the access to one texel; what lies beyond a border is zero.
Values read(const Texture &t, int64_t x, int64_t y, int64_t z, Addr pc) {
    Values r;
    if (x < 0 || y < 0 || z < 0) return r;
    unsigned bytes = (unsigned)t.bytes * t.members;
    int64_t height = std::max(t.size[1], 1u);
    Addr a = t.address + (Addr)(((z * height) + y) * t.size[0] + x) * bytes;
    checkAccess(a, bytes, READ, pc);
    for (int m = 0; m < t.members; m++) {
        memcpy(&r.raw[m], (const void *)(a + (Addr)m * t.bytes), t.bytes);
        if (t.fractions || t.kind == 2) r.v[m] = number(t, r.raw[m]);
    }
    return r;
}

void give(void *to, const Texture &t, int from, int members, const Values &r) {
    for (int m = 0; m < members; m++) {
        float f = (float)r.v[from + m];
        if (t.fractions || t.kind == 2)
            memcpy((char *)to + 4 * m, &f, 4);
        else
            memcpy((char *)to + t.bytes * m, &r.raw[from + m], t.bytes);
    }
}

// Axis is one dimension's share of a fetch: its texel or two, and the second's weight.
struct Axis {
    int64_t at[2] = {0, 0};
    double weight = 0;
};

Axis along(const Texture &t, int d, float place, bool pair) {
    Axis a;
    int64_t n = std::max(t.size[d], 1u);
    int outside = t.normalized || t.outside == Border ? t.outside : (int)Clamp;
    double x = t.normalized ? (double)place * (double)n : place;
    if (!(std::fabs(x) < 1e15)) x = x > 0 ? (double)n : 0; // a NaN leads to the first
    if (!pair) {
        a.at[0] = a.at[1] = inside((int64_t)std::floor(x), n, outside);
        return a;
    }
    double first = std::floor(x - 0.5);
    a.weight = std::floor((x - 0.5 - first) * 256 + 0.5) / 256; // 8 bits, as the hardware's
    for (int i = 0; i < 2; i++) a.at[i] = inside((int64_t)first + i, n, outside);
    return a;
}

// sample is the nearest texel, or the mean of 2, 4 or 8.
Values sample(const Texture &t, const float *place, int dimensions, int64_t layer, Addr pc) {
    bool linear = t.linear && (t.fractions || t.kind == 2);
    Axis axes[3];
    for (int d = 0; d < dimensions; d++) axes[d] = along(t, d, place[d], linear);
    if (dimensions < 3) axes[2].at[0] = axes[2].at[1] = layer;
    if (!linear) return read(t, axes[0].at[0], axes[1].at[0], axes[2].at[0], pc);
    Values sum;
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        double weight = 1;
        int64_t at[3];
        for (int d = 0; d < 3; d++) {
            int second = corner >> d & 1;
            at[d] = axes[d].at[second];
            if (d < dimensions) weight *= second ? axes[d].weight : 1 - axes[d].weight;
        }
        if (weight == 0) continue;
        Values r = read(t, at[0], at[1], at[2], pc);
        for (int m = 0; m < 4; m++) sum.v[m] += weight * r.v[m];
    }
    return sum;
}

// face turns a direction into a cube's face and a place on it, by the table of the CUDA guide.
int face(const float *direction, float *place) {
    float x = direction[0], y = direction[1], z = direction[2];
    float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    float s, t, m;
    int f;
    if (ax >= ay && ax >= az)
        f = x < 0, m = ax, s = x < 0 ? z : -z, t = -y;
    else if (ay >= az)
        f = 2 + (y < 0), m = ay, s = x, t = y < 0 ? -z : z;
    else
        f = 4 + (z < 0), m = az, s = z < 0 ? -x : x, t = -y;
    place[0] = (s / m + 1) / 2, place[1] = (t / m + 1) / 2;
    return f;
}
} // namespace

extern "C" {

void simt_texture(void *to, unsigned long long handle, const char *name, int bytes, int kind,
                  int members, float x, float y, float z, int layer) {
    Worker *w = worker;
    Addr pc = (Addr)__builtin_return_address(0);
    Texture t = textureAt(w, handle, name, pc);
    needTexels(w, t, name, bytes, kind, members, pc);
    bool cube = !strncmp(name, "texCube", 7), layers = cube || strstr(name, "Layered");
    int dimensions = cube ? 2 : name[3] - '0';
    needDimensions(w, t, name, dimensions, layers, pc);
    float place[3] = {x, y, z};
    if (cube) {
        if (t.size[0] != t.size[1] || t.size[2] != 6)
            refuseHopper(w, "bad texture", 0, "texCubemap takes six layers that are squares", pc);
        float direction[3] = {x, y, z};
        layer = face(direction, place);
    }
    int64_t last = std::max(t.size[2], 1u) - 1;
    give(to, t, 0, members, sample(t, place, dimensions, std::clamp<int64_t>(layer, 0, last), pc));
}

void simt_texture_linear(void *to, unsigned long long handle, int bytes, int kind, int members,
                         int i) {
    Worker *w = worker;
    Addr pc = (Addr)__builtin_return_address(0);
    Texture t = textureAt(w, handle, "tex1Dfetch", pc);
    needTexels(w, t, "tex1Dfetch", bytes, kind, members, pc);
    needDimensions(w, t, "tex1Dfetch", 1, false, pc);
    give(to, t, 0, members, read(t, inside(i, t.size[0], Border), 0, 0, pc));
}

// The four texels around a place, against the clock from the lower left.
void simt_texture_gather(void *to, unsigned long long handle, int bytes, int kind, float x, float y,
                         int member) {
    Worker *w = worker;
    Addr pc = (Addr)__builtin_return_address(0);
    Texture t = textureAt(w, handle, "tex2Dgather", pc);
    needTexels(w, t, "tex2Dgather", bytes, kind, t.members, pc);
    needDimensions(w, t, "tex2Dgather", 2, false, pc);
    if (member < 0 || member >= t.members)
        refuseHopper(w, "bad texture", 0,
                     "tex2Dgather: number " + std::to_string(member) + " of texels that have " +
                         std::to_string(t.members),
                     pc);
    Axis across = along(t, 0, x, true), down = along(t, 1, y, true);
    const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (int i = 0; i < 4; i++)
        give((char *)to + bytes * i, t, member, 1,
             read(t, across.at[order[i][0]], down.at[order[i][1]], 0, pc));
}

void simt_surface(void *value, bool write, unsigned long long handle, const char *name, int bytes,
                  int x, int y, int z, int mode) {
    Worker *w = worker;
    Addr pc = (Addr)__builtin_return_address(0);
    Texture t = textureAt(w, handle, name, pc);
    bool layers = strstr(name, "Layered");
    needDimensions(w, t, name, name[4] - '0', layers, pc);
    int64_t row = (int64_t)t.size[0] * t.bytes * t.members;
    int64_t height = std::max(t.size[1], 1u), depth = std::max(t.size[2], 1u);
    if (bytes > row || x % bytes)
        refuseHopper(w, "bad texture", 0,
                     std::string(name) + ": x is " + std::to_string(x) +
                         ", in bytes: it has to be a multiple of " + std::to_string(bytes),
                     pc);
    bool outside = x < 0 || x + bytes > row || y < 0 || y >= height || z < 0 || z >= depth;
    if (outside && mode == 2)
        refuseHopper(w, "outside the surface", 0,
                     std::string(name) + " at byte " + std::to_string(x) + " of row " +
                         std::to_string(y) + (depth > 1 ? " of slice " + std::to_string(z) : "") +
                         ": the surface has " + std::to_string(height) +
                         (height == 1 ? " row of " : " rows of ") + std::to_string(row) + " bytes",
                     pc);
    if (outside && mode == 0) {
        if (!write) memset(value, 0, (size_t)bytes);
        return;
    }
    int64_t cx = std::clamp<int64_t>(x, 0, row - bytes), cy = std::clamp<int64_t>(y, 0, height - 1);
    Addr a = t.address + (Addr)((std::clamp<int64_t>(z, 0, depth - 1) * height + cy) * row + cx);
    checkAccess(a, (unsigned)bytes, write ? WRITE : READ, pc);
    write ? memcpy((void *)a, value, (size_t)bytes) : memcpy(value, (const void *)a, (size_t)bytes);
}
}
