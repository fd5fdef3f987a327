package sim

import (
	"cmp"
	"fmt"
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
	Bounds     string // what its __launch_bounds__ say: an array of C++
	Cluster    string // and its __cluster_dims__
	Asked      bool   // a template, with arguments that the source asks for
}

// entries are the kernels of a file: those that are written out, and those templates that
// the source asks for.
func (s moduleSource) entries(r stripped, gone []refused) ([]entry, error) {
	written := map[string]device.Signature{} // as the student wrote the types
	for _, sig := range device.ScanKernels(s.text) {
		written[sig.Name] = sig
	}
	var all []entry
	for _, k := range r.Kernels {
		if k.Template {
			continue
		}
		name, expression := hostside.Called(r.Kernels, k)
		if expression != "&"+k.Name {
			expression = "static_cast<" + spaceOf(k) + chosen(k) + ">(&" + k.Name + ")"
		}
		attributes := said(k, "")
		e := entry{device.Signature{Name: name, Line: r.where(k.At).line, Params: device.ParseParams(k.Params)}, expression, attributes.bounds, attributes.cluster, false}
		sig, ok := written[k.Name]
		if ok = ok && name == k.Name; ok && len(sig.Params) == len(e.Signature.Params) {
			e.Signature = sig
		}
		e.Signature.Empty = ok && sig.Empty
		all = append(all, e)
	}
	for _, wanted := range s.wanted {
		name := hostside.Base(wanted)
		if slices.ContainsFunc(gone, func(r refused) bool { return r.Kernel == name }) {
			continue
		}
		k, fault := hostside.Asked(r.Kernels, wanted)
		switch {
		case fault != "" || strings.Contains(wanted, "simt"):
			return nil, oneError(s.name, s.lineOf(r, name), cmp.Or(fault, hostside.Misfit(nil, wanted, "")))
		case k == nil:
			continue
		}
		sig := device.Signature{Name: wanted, Line: r.where(k.At).line, Params: device.ParseParams(k.Params)}
		attributes := said(*k, strings.TrimPrefix(strings.TrimSpace(wanted), name))
		all = append(all, entry{sig, "&" + wanted, attributes.bounds, attributes.cluster, true})
	}
	return all, nil
}

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
	for i, e := range all {
		if e.Asked {
			fmt.Fprintf(&b, "# %d %q\n", i+1, askedFor)
		}
		fmt.Fprintf(&b, "{%s, &simt::Entry<%[2]s>::call, sizeof(simt::Entry<%[2]s>::sizes) / 2 - 1, simt::Entry<%[2]s>::sizes, simt::Entry<%[2]s>::kinds, (void *)simt::Entry<%[2]s>::address, {%[3]s[0], %[3]s[1], %[3]s[2]}, {%[4]s[0], %[4]s[1]}},\n",
			strconv.Quote(e.Signature.Name), e.Expression, cmp.Or(e.Cluster, nothingSaid), cmp.Or(e.Bounds, nothingSaid))
	}
	b.WriteString("{nullptr, nullptr, 0, nullptr, nullptr, nullptr, {0, 0, 0}, {0, 0}}};\n}\n")
	return b.String()
}
