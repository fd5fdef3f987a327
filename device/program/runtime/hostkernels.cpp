// hostkernels.cpp - the kernels of a program, found by the constants in their bodies.
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "host.h"

namespace simt::program {

namespace {
std::map<const void *, const KernelEntry *> byInfo, byAddress;

// plainName is a kernel's with its template arguments, and without its type: scale<float, 4>.
std::string plainName(const char *mangled) {
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = status == 0 && text ? text : mangled;
    free(text);
    if (name.rfind("void ", 0) == 0) name.erase(0, 5);
    if (!name.empty() && name.back() == ')') {
        int depth = 0;
        size_t i = name.size();
        while (i-- > 0) {
            if (name[i] == ')') depth++;
            if (name[i] == '(' && --depth == 0) break;
        }
        if (i < name.size()) name.erase(i);
    }
    return name;
}

struct File {
    char *bytes = nullptr;
    size_t size = 0;
    explicit File(const std::string &path) {
        int fd = open(path.c_str(), O_RDONLY);
        struct stat st;
        if (fd >= 0 && !fstat(fd, &st)) {
            void *p = mmap(nullptr, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
            if (p != MAP_FAILED) bytes = (char *)p, size = st.st_size;
        }
        if (fd >= 0) close(fd);
    }
    ~File() {
        if (bytes) munmap(bytes, size);
    }
};

// The constant simt_kernel of a kernel's body is called _ZZ6kernelPfE11simt_kernel, and the kernel
// _Z6kernelPf; or just kernel, if it has C linkage.
constexpr char constantName[] = "E11simt_kernel";

std::vector<std::string> functionsOf(const std::string &constant) {
    if (constant.rfind("_ZZ", 0) != 0) return {};
    size_t end = constant.rfind(constantName);
    if (end == std::string::npos) return {};
    std::string inner = constant.substr(3, end - 3);
    size_t digits = inner.find_first_not_of("0123456789");
    std::vector<std::string> names = {"_Z" + inner};
    if (digits && digits != std::string::npos) names.push_back(inner.substr(digits));
    return names;
}
} // namespace

const KernelEntry *findKernels(void *, Addr base, const std::string &path) {
    File file(path);
    static auto &entries = *new std::vector<KernelEntry>;
    std::map<std::string, Addr> functions;
    std::vector<std::pair<std::string, Addr>> constants;
    if (file.bytes) {
        auto *header = (ElfW(Ehdr) *)file.bytes;
        auto *sections = (ElfW(Shdr) *)(file.bytes + header->e_shoff);
        for (int i = 0; i < header->e_shnum; i++) {
            if (sections[i].sh_type != SHT_SYMTAB) continue;
            auto *table = (ElfW(Sym) *)(file.bytes + sections[i].sh_offset);
            const char *names = file.bytes + sections[sections[i].sh_link].sh_offset;
            for (size_t j = 0; j < sections[i].sh_size / sizeof *table; j++) {
                if (table[j].st_shndx == SHN_UNDEF) continue;
                std::string name = names + table[j].st_name;
                Addr at = base + table[j].st_value;
                if (ELF64_ST_TYPE(table[j].st_info) == STT_FUNC)
                    functions[name] = at;
                else if (name.find(constantName) != std::string::npos)
                    constants.push_back({name, at});
            }
        }
    }
    std::vector<const void *> infos;
    for (auto &[name, at] : constants)
        for (auto &function : functionsOf(name)) {
            auto it = functions.find(function);
            if (it == functions.end()) continue;
            auto *info = (const simt_kernel_info *)at;
            KernelEntry k{};
            k.name = strdup(plainName(function.c_str()).c_str());
            k.call = info->call;
            k.count = info->count;
            k.sizes = info->sizes;
            k.kinds = info->kinds;
            k.address = (void *)it->second;
            std::copy(info->cluster, info->cluster + 3, k.cluster);
            std::copy(info->bounds, info->bounds + 2, k.bounds);
            entries.push_back(k);
            infos.push_back(info);
            break;
        }
    entries.push_back(KernelEntry{});
    for (size_t i = 0; i < infos.size(); i++)
        byInfo[infos[i]] = byAddress[entries[i].address] = &entries[i];
    return entries.data();
}

const KernelEntry *kernelAt(const void *address) {
    auto it = byAddress.find(address);
    return it == byAddress.end() ? nullptr : it->second;
}

const KernelEntry *kernelOf(const simt_kernel_info *info) {
    auto it = byInfo.find(info);
    return it == byInfo.end() ? nullptr : it->second;
}

} // namespace simt::program
