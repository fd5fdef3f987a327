// readmap.cpp - a device.TensorMap, as a launch brings it.
#include "message.h"
#include "runtime.h"
#include "tensormap.h"

namespace simt {

// readMap makes what a kernel gets of a device.TensorMap, which was checked.
bool readMap(Reader &r, TensorMap *m, std::string *error) {
    m->address = r.number();
    m->bytes = r.number();
    std::string name = r.text();
    if (!withinAllocation(m->address, m->bytes, error)) {
        *error = "a tensor map of '" + name + "': " + *error;
        return false;
    }
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    uint64_t element = r.number(), strides = 0, box = 0;
    m->mark = TensorMap::right;
    uint64_t rank = r.number();
    bool fits = element < sizeof bytes && rank >= 1 && rank <= 5;
    for (uint64_t i = 0; fits && i < rank; i++) m->sizes[i] = (uint32_t)r.number();
    fits = fits && (strides = r.number()) == rank - 1;
    for (uint64_t i = 0; fits && i < strides; i++) m->strides[i] = r.number();
    fits = fits && (box = r.number()) == rank;
    for (uint64_t i = 0; fits && i < box; i++) m->box[i] = (uint16_t)r.number();
    if (!fits) {
        *error = "a tensor map that is none";
        return false;
    }
    m->rank = (uint8_t)rank;
    m->element = bytes[element];
    m->swizzle = (uint8_t)r.number();
    return true;
}

} // namespace simt
