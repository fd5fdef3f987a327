// module.cpp - compiled kernels: loads the shared object, and learns from its
// ELF tables which variables it has and where.
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cluster.h"
#include "onhost.h"

namespace simt {

namespace {
std::vector<Module *> modules;

// named turns _ZZ7softmaxE5stage into the variable stage of softmax.
Symbol named(const char *mangled, Addr lo, Addr hi, bool shared) {
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = status == 0 && text ? text : mangled;
    free(text);
    size_t colons = name.rfind("::");
    if (colons == std::string::npos) return {name, lo, hi, shared, ""};
    return {name.substr(colons + 2), lo, hi, shared, name.substr(0, colons)};
}

// readSegments finds the module's image, its writable data and its
// thread-local block.
int readSegments(struct dl_phdr_info *info, size_t, void *out) {
    Module *m = (Module *)out;
    if (info->dlpi_addr != m->base) return 0;
    m->tlsModule = info->dlpi_tls_modid;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const auto &segment = info->dlpi_phdr[i];
        Addr lo = m->base + segment.p_vaddr, hi = lo + segment.p_memsz;
        if (segment.p_type == PT_TLS) m->tlsSize = segment.p_memsz;
        if (segment.p_type != PT_LOAD) continue;
        m->end = std::max(m->end, hi);
        if (segment.p_flags & PF_W) {
            m->data.lo = lo;
            m->data.hi = hi;
        }
    }
    return 1;
}

// owners are the kernels by how the names of their own variables begin: those of
// _Z7softmaxPf with _ZZ7softmaxPfE, those of softmax, a C function, with _ZZ7softmaxE.
typedef std::vector<std::pair<std::string, const char *>> Owners;

void addOwner(Owners *owners, Module *m, Addr at, const char *name) {
    for (const KernelEntry *k = m->kernels; k->name; k++) {
        if ((Addr)k->address != at) continue;
        std::string inner =
            !strncmp(name, "_Z", 2) ? name + 2 : std::to_string(strlen(name)) + name;
        owners->push_back({"_ZZ" + inner + "E", k->name});
    }
}

void readSymbols(Module *m, const std::string &path) {
    int fd = open(path.c_str(), O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st)) return;
    char *file = (char *)mmap(nullptr, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED) return;
    auto *header = (ElfW(Ehdr) *)file;
    auto *sections = (ElfW(Shdr) *)(file + header->e_shoff);
    Owners owners;
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        auto *table = (ElfW(Sym) *)(file + sections[i].sh_offset);
        const char *names = file + sections[sections[i].sh_link].sh_offset;
        size_t count = sections[i].sh_size / sizeof *table;
        for (size_t j = 0; j < count; j++)
            if (ELF64_ST_TYPE(table[j].st_info) == STT_FUNC)
                addOwner(&owners, m, m->base + table[j].st_value, names + table[j].st_name);
        for (size_t j = 0; j < count; j++) {
            const auto &s = table[j];
            int type = ELF64_ST_TYPE(s.st_info);
            const char *name = names + s.st_name;
            if (s.st_shndx == SHN_UNDEF) continue;
            if (type == STT_TLS) {
                m->symbols.push_back(named(name, s.st_value, s.st_value + s.st_size, true));
                for (auto &[prefix, kernel] : owners)
                    if (!strncmp(name, prefix.c_str(), prefix.size()))
                        m->symbols.back().owner = kernel;
                if (!strcmp(name, "simt_dynamic_shared")) m->dynamicAt = s.st_value;
            } else if (type == STT_OBJECT && s.st_size && m->data.holds(m->base + s.st_value)) {
                Addr at = m->base + s.st_value;
                m->symbols.push_back(named(name, at, at + s.st_size, false));
            }
        }
    }
    munmap(file, st.st_size);
}

// A kernel may only touch named variables: the linker's own tables are in the
// same segment.
void shadowData(Module *m, const std::vector<std::string> &constants) {
    if (!m->data.hi) return;
    size_t bytes = m->data.hi - m->data.lo;
    m->data.space = Space::Module;
    m->data.state = (uint8_t *)reserve(bytes + 16);
    m->written = (uint8_t *)reserve(bytes / sectorBytes + 2);
    for (auto &s : m->symbols) {
        if (s.shared || (ofDevice && !ofDevice(s.name, s.owner))) continue;
        bool constant = std::find(constants.begin(), constants.end(), s.name) != constants.end();
        memset(m->data.state + (s.lo - m->data.lo), LIVE | INITIALISED | (constant ? CONSTANT : 0),
               s.hi - s.lo);
    }
}

struct Block {
    size_t module;
    void *at;
};

int findBlock(struct dl_phdr_info *info, size_t, void *out) {
    Block *b = (Block *)out;
    if (info->dlpi_tls_modid != b->module) return 0;
    b->at = info->dlpi_tls_data;
    return 1;
}
} // namespace

Module *loadModule(const std::string &path, const std::vector<std::string> &constants,
                   std::string *error) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        *error = dlerror();
        return nullptr;
    }
    auto *m = new Module{};
    m->id = (int)modules.size();
    struct link_map *map = nullptr;
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    m->base = map->l_addr;
    dl_iterate_phdr(readSegments, m);
    m->kernels = (const KernelEntry *)dlsym(handle, "simt_kernels");
    if (!m->kernels && kernelsOf) m->kernels = kernelsOf(handle, m->base, path);
    m->touchShared = (void *(*)())dlsym(handle, "simt_touch_shared");
    if (!m->kernels || !m->touchShared) {
        *error = "the module has no table of kernels";
        return nullptr;
    }
    readSymbols(m, path);
    shadowData(m, constants);
    modules.push_back(m);
    return m;
}

Module *moduleById(int id) {
    return id >= 0 && id < (int)modules.size() ? modules[id] : nullptr;
}

const KernelEntry *findKernel(Module *m, const std::string &name) {
    for (const KernelEntry *k = m->kernels; k->name; k++)
        if (name == k->name) return k;
    return nullptr;
}

// A kernel takes its own static shared variables, and those of no kernel (a
// helper function's).
bool takesShared(Module *m, const KernelEntry *k, const Symbol &s) {
    return s.shared && s.lo < m->dynamicAt && (s.owner == k->name || !findKernel(m, s.owner));
}

size_t staticShared(Module *m, const KernelEntry *k) {
    size_t bytes = 0;
    for (auto &s : m->symbols)
        if (takesShared(m, k, s)) bytes += s.hi - s.lo;
    return bytes;
}

size_t ownShared(Module *m, const KernelEntry *k) {
    size_t bytes = 0;
    for (auto &s : m->symbols)
        if (takesShared(m, k, s) && s.owner == k->name) bytes += s.hi - s.lo;
    return bytes;
}

// prepareModule finds the calling OS thread's copy of the module's shared memory, and
// gives the worker its shadows.
bool prepareModule(Worker *w, Module *m, std::string *error) {
    w->module = m;
    w->codeBase = m->base;
    bool races = w->checks & RACE;
    auto data = w->dataOf.find(m->id);
    if (data == w->dataOf.end()) {
        data = w->dataOf.emplace(m->id, m->data).first;
        if (races && m->data.hi) shadow(&data->second, true);
    }
    w->data = &data->second;
    uint32_t *&runs = w->blockRunsOf[m->id];
    if (!runs) runs = (uint32_t *)reserve((m->end - m->base) * sizeof(uint32_t));
    w->blockRuns = runs;
    auto shared = w->sharedOf.find(m->id);
    if (shared == w->sharedOf.end()) {
        m->touchShared(); // the loader makes the copy at the first use
        Block b = {m->tlsModule, nullptr};
        dl_iterate_phdr(findBlock, &b);
        if (!b.at) {
            *error = "the module's shared memory was not found";
            return false;
        }
        Region r;
        r.lo = (Addr)b.at;
        r.hi = r.lo + m->tlsSize;
        r.space = Space::Shared;
        r.state = (uint8_t *)reserve(m->tlsSize + 16);
        if (races) shadow(&r, false);
        shared = w->sharedOf.emplace(m->id, r).first;
    }
    w->shared = &shared->second;
    if (races && w->cluster && !w->shared->cross)
        w->shared->cross = (CrossCell *)reserve((m->tlsSize / 4 + 8) * sizeof(CrossCell));
    return true;
}

} // namespace simt
