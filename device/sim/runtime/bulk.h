// bulk.h - asking for bulk copies, of plain bytes or of a tensor's box.
#pragma once
#include <algorithm>

#include "hopper.h"

namespace simt {

// `to` and `from` are in shared memory, at a multiple of so many bytes.
void askForLoad(Worker *w, BulkCopy &c, Addr to, Addr barrier, unsigned multiple, const char *what);
void askForStore(Worker *w, BulkCopy &c, Addr from, unsigned multiple, const char *what);

} // namespace simt
