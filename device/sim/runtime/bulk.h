// bulk.h - asking for bulk copies, of plain bytes or of a tensor's box.
#pragma once
#include <algorithm>

#include "hopper.h"

namespace simt {

// `to` and `from` are in shared memory, at a multiple of so many bytes. A load may go to another
// block of the cluster, whose barrier it is then.
void askForLoad(Worker *w, BulkCopy c, Addr to, Addr barrier, unsigned multiple, const char *what);
// askForAll is askForLoad to the same place of all blocks in a mask of ranks, and for their
// barriers.
void askForAll(Worker *w, BulkCopy &c, Addr to, Addr barrier, unsigned multiple, unsigned blocks,
               const char *what);
void askForStore(Worker *w, BulkCopy &c, Addr from, unsigned multiple, const char *what);

} // namespace simt
