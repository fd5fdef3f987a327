// sawarm.cpp - what saw.cpp is, in AArch64's assembly: hooks that change no register and no flag.
// x0 is the address; whoever calls keeps x0, x16, x17 and x30.
#if defined(__aarch64__)
#include "worker.h"

using namespace simt;

static_assert(offsetof(Worker, stackLo) == 0 && ownStack == 1 << 13, "the assembly below");

asm(R"(
.text
.macro saw kind name asks
.globl simt_\kind\()_\name
.type simt_\kind\()_\name,%function
simt_\kind\()_\name:
  stp x1,x2,[sp,#-16]!
  adrp x1,:gottprel:_ZN4simt6workerE
  ldr x1,[x1,:gottprel_lo12:_ZN4simt6workerE]
  mrs x2,tpidr_el0
  ldr x1,[x2,x1]
  cbz x1,1f
  ldr x2,[x1]
  sub x2,x0,x2
  lsr x2,x2,#13
  cbz x2,1f
  adrp x1,simt_\asks\()_\name
  add x1,x1,:lo12:simt_\asks\()_\name
  b simt_look_around
1:
  ldp x1,x2,[sp],#16
  ret
.size simt_\kind\()_\name,.-simt_\kind\()_\name
.endm

.type simt_look_around,%function
simt_look_around:
  sub sp,sp,#688
  stp x29,x30,[sp]
  mov x29,sp
  stp x0,x3,[sp,#16]
  stp x4,x5,[sp,#32]
  stp x6,x7,[sp,#48]
  stp x8,x9,[sp,#64]
  stp x10,x11,[sp,#80]
  stp x12,x13,[sp,#96]
  stp x14,x15,[sp,#112]
  stp x16,x17,[sp,#128]
  mrs x2,nzcv
  stp x18,x2,[sp,#144]
  stp q0,q1,[sp,#160]
  stp q2,q3,[sp,#192]
  stp q4,q5,[sp,#224]
  stp q6,q7,[sp,#256]
  stp q8,q9,[sp,#288]
  stp q10,q11,[sp,#320]
  stp q12,q13,[sp,#352]
  stp q14,q15,[sp,#384]
  stp q16,q17,[sp,#416]
  stp q18,q19,[sp,#448]
  stp q20,q21,[sp,#480]
  stp q22,q23,[sp,#512]
  stp q24,q25,[sp,#544]
  stp q26,q27,[sp,#576]
  stp q28,q29,[sp,#608]
  stp q30,q31,[sp,#640]
  mov x2,x1
  mov x1,x30
  blr x2
  ldp q0,q1,[sp,#160]
  ldp q2,q3,[sp,#192]
  ldp q4,q5,[sp,#224]
  ldp q6,q7,[sp,#256]
  ldp q8,q9,[sp,#288]
  ldp q10,q11,[sp,#320]
  ldp q12,q13,[sp,#352]
  ldp q14,q15,[sp,#384]
  ldp q16,q17,[sp,#416]
  ldp q18,q19,[sp,#448]
  ldp q20,q21,[sp,#480]
  ldp q22,q23,[sp,#512]
  ldp q24,q25,[sp,#544]
  ldp q26,q27,[sp,#576]
  ldp q28,q29,[sp,#608]
  ldp q30,q31,[sp,#640]
  ldp x18,x2,[sp,#144]
  msr nzcv,x2
  ldp x16,x17,[sp,#128]
  ldp x14,x15,[sp,#112]
  ldp x12,x13,[sp,#96]
  ldp x10,x11,[sp,#80]
  ldp x8,x9,[sp,#64]
  ldp x6,x7,[sp,#48]
  ldp x4,x5,[sp,#32]
  ldp x0,x3,[sp,#16]
  ldp x29,x30,[sp]
  add sp,sp,#688
  ldp x1,x2,[sp],#16
  ret
.size simt_look_around,.-simt_look_around

.macro both name
saw saw \name look
saw may \name ask
.endm
both read1
both read2
both read4
both read8
both read16
both write1
both write2
both write4
both write8
both write16
)");
#endif
