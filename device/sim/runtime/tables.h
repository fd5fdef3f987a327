// tables.h - what the simulator remembers has bounds. Where one is reached, something goes
// uncounted or unjudged, and whoever reads the report has to know.
#pragma once
#include <string>

#include "worker.h"

namespace simt {

enum class Table : unsigned {
    Sites,
    Found,
    Repeats,
    Kept,
    Engines,
    Releases,
    Clocks,
    Clusters,
    Mbarriers,
    Altered, // no table: see seal.h
    End
};

// overfull notes that a table could not hold what it should have.
inline void overfull(Worker *w, Table t) {
    w->overfull |= 1u << (unsigned)t;
}
void endTables();         // of a launch: adds up what the workers noted
std::string tablesJson(); // in how many launches each was overfull
void resetTables();

} // namespace simt
