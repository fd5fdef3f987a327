// tensormap.h - a CUtensorMap as the simulator has it: 128 bytes, made when a kernel is launched.
#pragma once
#include <cstdint>
#include <string>

namespace simt {

struct alignas(64) TensorMap {
    static constexpr uint64_t right = 0x70616d2d74696d73;
    uint64_t mark;
    uint64_t address, bytes; // of the memory that the tensor lies in
    uint32_t sizes[5];       // elements, the innermost first
    uint16_t box[5];
    uint8_t rank, element; // element: bytes
    uint64_t strides[4];   // bytes, of all dimensions but the first
    uint8_t swizzle;       // bytes: 0, 32, 64, 128
    uint8_t rest[31];
};
static_assert(sizeof(TensorMap) == 128, "as CUtensorMap");

struct Reader; // message.h
bool readMap(Reader &r, TensorMap *m, std::string *error);

} // namespace simt
