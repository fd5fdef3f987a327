// texture.h - a device.Texture, as Go writes it to device memory (device/texture.go).
#pragma once
#include <cstdint>

namespace simt {

struct Texture {
    static constexpr uint64_t right = 0x65727574786574ff;
    uint64_t mark;
    uint64_t address; // of the first texel; rows and slices follow without gaps
    uint32_t size[3]; // texels; height 0: a line, depth 0: a plane
    uint32_t dimensions;
    uint8_t bytes, members, kind; // of a texel's numbers: 0 unsigned, 1 signed, 2 floating-point
    uint8_t outside;              // as cudaTextureAddressMode: wrap, clamp, mirror, border
    uint8_t normalized, linear;   // coordinates from 0 to 1; means of neighbours
    uint8_t fractions, layered;   // integers are read as 0 to 1; the third dimension is layers
    uint64_t rest[3];
};
static_assert(sizeof(Texture) == 64, "as device/texture.go has it");

} // namespace simt
