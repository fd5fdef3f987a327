package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/device/sim/hostside"
)

// entry is a kernel of a module: what Go asks for it by, and what it is in C++.
type entry struct {
	Signature  device.Signature
	Expression string
	Bounds     string // what is in its __launch_bounds__
	Cluster    string // and in its __cluster_dims__
}

// entries are the kernels of a file: those that are written out, and those templates that
// the source asks for.
func (s moduleSource) entries(r stripped, gone []refused) ([]entry, error) {
	overloads := map[string]int{}
	templates := map[string]hostside.Kernel{}
	for _, k := range r.Kernels {
		overloads[k.Name]++
		templates[k.Name] = k
	}
	written := map[string]device.Signature{} // as the student wrote the types
	for _, sig := range device.ScanKernels(s.text) {
		written[sig.Name] = sig
	}
	var all []entry
	for _, k := range r.Kernels {
		if k.Template {
			continue
		}
		e := entry{device.Signature{Name: k.Name, Line: r.where(k.At).line, Params: device.ParseParams(k.Params)}, "&" + k.Name, attribute(k, k.Bounds), attribute(k, k.Cluster)}
		if sig, ok := written[k.Name]; ok && len(sig.Params) == len(e.Signature.Params) {
			e.Signature = sig
		}
		if overloads[k.Name] > 1 { // which one is said by its parameters
			params := withoutDefaults.ReplaceAllString(k.Params, "")
			e.Signature.Name = k.Name + "(" + strings.TrimSpace(params) + ")"
			e.Expression = "static_cast<void (*)(" + params + ")>(&" + k.Name + ")"
		}
		all = append(all, e)
	}
	for _, wanted := range s.wanted {
		name, _, _ := strings.Cut(wanted, "<")
		name = strings.TrimPrefix(strings.TrimSpace(name), "::")
		if slices.ContainsFunc(gone, func(r refused) bool { return r.Kernel == name }) {
			continue
		}
		k, ok := templates[name]
		if !ok || strings.Contains(wanted, "simt") {
			return nil, oneError(s.name, 0, fmt.Sprintf("Source.Kernels asks for %q: the file has no kernel %s", wanted, name))
		}
		if !k.Template {
			continue
		}
		all = append(all, entry{device.Signature{Name: wanted, Line: r.where(k.At).line, Params: device.ParseParams(k.Params)}, "&" + wanted, attribute(k, k.Bounds), attribute(k, k.Cluster)})
	}
	return all, nil
}

var (
	plainNumbers = regexp.MustCompile(`^[\d\s()+*/,uU-]+$`)
	plainNames   = regexp.MustCompile(`^[\w\s()+*/,:-]+$`)
)

// attribute is what of a kernel's attribute can be said again behind the file: numbers; or names,
// unless they may be a template's or of a namespace.
func attribute(k hostside.Kernel, text string) string {
	if plainNumbers.MatchString(text) || !k.Template && !strings.Contains(k.Name, "::") && plainNames.MatchString(text) {
		return strings.TrimSpace(text)
	}
	return ""
}

var withoutDefaults = regexp.MustCompile(`=[^,]*`)

// table is what every module ends with: its kernels, and how to reach its shared memory.
func (c *compiler) table(all []entry) string {
	unseen := `__attribute__((no_sanitize("thread")))`
	if c.clang {
		unseen = "__attribute__((disable_sanitizer_instrumentation))"
	}
	var b strings.Builder
	b.WriteString("extern \"C\" {\nextern __thread char simt_dynamic_shared[];\n" +
		unseen + " void *simt_touch_shared() { return simt_dynamic_shared; }\n" +
		"extern const simt::KernelEntry simt_kernels[];\nconst simt::KernelEntry simt_kernels[] = {\n")
	for _, e := range all {
		fmt.Fprintf(&b, "{%s, &simt::Entry<%[2]s>::call, sizeof(simt::Entry<%[2]s>::sizes) / 2 - 1, simt::Entry<%[2]s>::sizes, simt::Entry<%[2]s>::kinds, (void *)simt::Entry<%[2]s>::address, {%[3]s[0], %[3]s[1], %[3]s[2]}, {%[4]s[0], %[4]s[1]}},\n",
			strconv.Quote(e.Signature.Name), e.Expression, "simt::Numbers<"+e.Cluster+">::all", "simt::Numbers<"+e.Bounds+">::all")
	}
	b.WriteString("{nullptr, nullptr, 0, nullptr, nullptr, nullptr, {0, 0, 0}, {0, 0}}};\n}\n")
	return b.String()
}

// compiled fills in what the source's text did not tell of a kernel's parameters: those
// of a type that has another name, structs, templates'. kinds is "p8 i4 o12".
func compiled(sig device.Signature, kinds string) device.Signature {
	fields := strings.Fields(kinds)
	if len(fields) != len(sig.Params) {
		return sig
	}
	sig.Params = append([]device.Param{}, sig.Params...)
	for i, f := range fields {
		p := &sig.Params[i]
		size, err := strconv.Atoi(f[1:])
		kind := map[byte]device.ParamKind{'p': device.Pointer, 'i': device.Int, 'u': device.Int, 'f': device.Float}[f[0]]
		if err != nil || p.Kind == device.Map || p.Kind == kind && p.Size == size {
			continue
		}
		*p = device.Param{Name: p.Name, Type: p.Type, Kind: kind, Size: size, Unsigned: f[0] == 'u'}
	}
	return sig
}
