// overtaken.h - loads whose value is used for the first time behind an arrival at an mbarrier: a
// copy that the arrival allows may overtake them (overtaken.go finds them in the assembly).
#pragma once
#include "runtime.h"

namespace simt {

void readLate(Worker *w); // the running thread has just arrived

} // namespace simt
