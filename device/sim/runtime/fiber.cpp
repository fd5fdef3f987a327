#include "fiber.h"

#if defined(__x86_64__)
asm(R"(
.text
.globl simt_switch
.type simt_switch,@function
simt_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,(%rdi)
  mov %rsi,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size simt_switch,.-simt_switch
)");
#else
#error "the simulator switches stacks in x86-64 assembly only, so far"
#endif
