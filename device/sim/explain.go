package sim

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/device/trace"
)

// explain turns a raw finding into words: what, where, who, and what to do.
func (d *Device) explain(raw rawFinding) explained {
	f := explained{Finding: trace.Finding{Check: raw.Check, Kind: raw.Kind, Kernel: raw.Kernel, Count: raw.Count, Fatal: raw.Fatal}}
	if raw.Kernel == "" { // found while copying out
		f.Message = fmt.Sprintf("%s: element %d of the buffer was never written", raw.Name, raw.Offset/4)
		f.Hint = "does every thread that should write an element do so, at the last rows and columns too?"
		return f
	}
	m := d.module(raw.Module)
	f.File, f.Line, f.Column = m.source.Name, raw.Line, raw.Column
	if raw.PC != 0 {
		file, at := d.place(raw.Module, raw.PC)
		f.File, f.Line, f.Column = file, at.line, at.column
	}
	f.module = m
	if raw.PC != 0 && f.Line == 0 { // code of ours, which no check should see
		f.Message = misfit
		return f
	}
	f.File, _ = fileOf(m.source.Files, f.File, f.Line)
	f.Source = m.sourceLine(f.File, f.Line)
	f.Block = &raw.Block
	if raw.Check != "synccheck" { // a barrier is a matter of many threads
		f.Thread = &raw.Thread
	}
	f.variable = raw.Owner + "::" + raw.Name
	if f.Source != "" && strings.TrimSpace(f.Source) == "" {
		f.Source = ""
	}
	what := d.object(m, raw)
	who := fmt.Sprintf("thread %s of block %s", triple(raw.Thread), triple(raw.Block))
	switch raw.Kind {
	case "race":
		d.explainRace(&f, raw, m, what)
	case "first read", "flag":
		d.explainRace(&f, raw, m, what)
		noteRace(&f, what)
	case "out of bounds":
		f.Message = fmt.Sprintf("%s out of bounds: %s", opWord(raw.Op), what)
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = boundsHint(raw)
	case "index out of bounds":
		f.Message = "array index out of bounds: " + strings.ReplaceAll(raw.Text, "'", "")
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = dimensionHint(raw.Text)
		if strings.Contains(raw.Text, "index -") {
			f.Hint = negativeIndex
		}
	case "use after free":
		f.Message = fmt.Sprintf("%s of freed memory: %s", opWord(raw.Op), what)
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = "it had been freed by then: free it only after its last use, here or in a later launch"
	case "misaligned":
		f.Message = fmt.Sprintf("misaligned %s of %d bytes: %s", opWord(raw.Op), raw.Bytes, what)
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = fmt.Sprintf("a %d-byte access needs an address that is a multiple of %d", raw.Bytes, raw.Bytes)
	case "write to constant memory":
		f.Message = "write to __constant__ memory: " + what
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = "a kernel can only read it: write to a buffer, and set the constant before the launch"
	case "uninitialised":
		f.Message = "read of memory that nothing has written: " + what
		f.Notes = append(f.Notes, "first by "+who)
		f.Hint = "shared memory and fresh buffers hold no zeros: write before you read"
		if raw.Space == "module" {
			f.Message = "read of a __constant__ that was never written: " + what
			f.Hint = "give it an initialiser, or set it from Go before the launch: the module's Variable(…), and CopyIn"
		}
	case notWaitedFor:
		d.explainCopy(&f, raw, what, who)
	case "steps":
		f.Message = fmt.Sprintf("endless loop? kernel %s was stopped after %d steps of a block (accesses, barriers, basic blocks of code)", raw.Kernel, d.options.MaxSteps)
		f.Notes = append(f.Notes, who+" was here")
		f.Hint = endlessHint
	case "time":
		f.Message = fmt.Sprintf("endless loop? kernel %s was stopped after %v", raw.Kernel, d.options.Timeout)
		f.Notes = append(f.Notes, who+" was here")
		f.Hint = endlessHint
	case "stack overflow":
		f.Message = "local arrays are too large: a thread's stack overflowed"
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = "large arrays belong in shared or global memory"
	case "division by zero":
		f.Message = "integer division by zero"
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = "which divisor of this line can be 0? If it is an argument of the kernel's, compare the launch's arguments with the parameters"
	case "deadlock":
		f.Message = "deadlock: threads wait for each other forever"
		f.Notes = append(f.Notes, raw.Text, "in block "+triple(raw.Block))
		f.Hint = "every thread of the block must reach the same __syncthreads(), and every lane of the mask the same warp operation: is one of them inside a branch?"
		if strings.Contains(raw.Text, "mbarrier") || strings.Contains(raw.Text, "named barrier") {
			f.Hint = "count who arrives, how often, and for which phase: a wait for a parity passes while the barrier's phase has the other one"
		}
	case divergentBarrier:
		f.Message = "threads of one block wait at different barriers"
		f.Notes = append(f.Notes, raw.Text, "in block "+triple(raw.Block))
		f.Hint = "move __syncthreads() out of the branch, so that all threads pass the same one"
	case skippedBarrier, endedBefore:
		f.Message = "a barrier that part of the block never reaches"
		f.Notes = append(f.Notes, raw.Text, "in block "+triple(raw.Block))
		f.Hint = "move __syncthreads() out of the branch or the loop, so that all threads reach it. A thread without work may return before it instead"
	case "grid barrier not reached by all":
		f.Message = "a barrier of the grid that some blocks never reach"
		f.Notes = append(f.Notes, raw.Text)
		f.Hint = "every block has to pass each this_grid().sync(): let those without work wait there as well"
	case "not a cooperative launch":
		f.Message = "a barrier of the grid in a launch that is not cooperative"
		f.Hint = "its blocks need not all live at once, so the barrier may never end: device.Launch{Cooperative: true}"
		if raw.Text != "" {
			f.Message = "a block waits for another one in a launch that is not cooperative"
			f.Notes = append(f.Notes, who+" looks here again and again, other blocks have yet to begin, and none does before one of these ends")
			f.Hint = "its blocks need not all live at once: device.Launch{Cooperative: true}"
		}
	case "divergent warp":
		f.Message = raw.Text
		f.Notes = append(f.Notes, "in block "+triple(raw.Block))
		f.Hint = "every lane has to pass the same call the same number of times: let the whole warp take a branch, or none of it"
	case "misaligned row", "not in shared memory":
		f.Message = raw.Text
		f.Notes = append(f.Notes, who+"; the kernel was stopped there")
		f.Hint = "lane i gives the address of row i%8 of matrix i/8: 8 halves in a shared array that is aligned to 16 bytes, as its row length is"
	default:
		if d.explainCluster(&f, raw, m, what, who) || d.explainHopper(&f, raw, m, what, who) {
			break
		}
		f.Message = raw.Kind
		if raw.Text != "" {
			f.Message = raw.Text
		}
		f.Notes = append(f.Notes, who)
	}
	return f
}

// misfit is what is wrong if it cannot be the student's kernel.
const misfit = "the simulator's cache does not fit this tree: make clean, and try again"

// notWaitedFor is the kind of finding about asynchronous copies: they come
// before a race on the same variable, which is their consequence.
const (
	notWaitedFor  = "not waited for"
	notHandedOver = "not handed over"
	noFenceBehind = "no fence behind"
)

// explainCopy: shared memory that an asynchronous copy is still filling.
func (d *Device) explainCopy(f *explained, raw rawFinding, what, who string) {
	if raw.Text != "" || raw.OtherPC != 0 {
		d.explainBulk(f, raw, what, who)
		return
	}
	if raw.Op == "write" { // the thread returned
		f.Message = "an asynchronous copy that nobody waited for: " + what
		f.Notes = append(f.Notes, who+" started it here, and returned")
		f.Hint = "nothing uses what it brings: leave it out in the last rounds, which saves its traffic"
		return
	}
	f.Message = opWord(raw.Op) + " of what an asynchronous copy has yet to fill: " + what
	f.reads = true
	if raw.OtherLine > 0 {
		f.otherLine = raw.OtherLine
		f.Notes = append(f.Notes, fmt.Sprintf("thread %s asked for the copy at line %d", triple(raw.OtherThread), raw.OtherLine))
	}
	f.Notes = append(f.Notes, "first by "+who)
	f.Hint = "__pipeline_wait_prior(n) waits for all but the last n committed groups, of the calling thread only: then a __syncthreads()"
}

// object names the memory that was touched: "shared memory tile[3][16] (4 bytes)".
func (d *Device) object(m *module, raw rawFinding) string {
	switch raw.Space {
	case "shared", "module":
		if raw.Name == "" {
			return raw.Note
		}
		if raw.Dynamic {
			raw.Owner, raw.Name = m.debug().dynamic(raw.Kernel, raw.Name)
		}
		name := m.debug().element(raw.Owner, raw.Name, raw.Offset, raw.Bytes)
		kind := "shared memory "
		switch {
		case raw.Space == "module":
			kind = "device variable "
		case strings.Contains(raw.Name, "shared memory"): // an array of no known name
			kind = ""
		}
		text := fmt.Sprintf("%s%s (%d bytes)", kind, name, raw.Bytes)
		if raw.Note != "" {
			text += " " + raw.Note
		}
		switch {
		case raw.Offset < 0:
			text += ", before its first element"
		case raw.Offset+raw.Bytes > raw.Size:
			text += ", which holds " + m.debug().holds(raw.Owner, raw.Name, raw.Size, raw.Bytes)
		}
		return text
	case "global":
		if raw.Name == "" {
			return "global memory " + raw.Note
		}
		each := max(raw.Bytes, 1)
		index := raw.Offset / each
		if raw.Offset < 0 { // towards the element it begins in
			index = -((-raw.Offset + each - 1) / each)
		}
		text := fmt.Sprintf("global memory %s[%d] (%d bytes)", raw.Name, index, raw.Bytes) + m.calls(raw)
		switch {
		case raw.Offset < 0:
			text += ", before its first element"
		case raw.Offset+raw.Bytes > raw.Size:
			text += fmt.Sprintf(", which holds %d elements of that size", raw.Size/each)
			text = strings.Replace(text, " holds 1 elements ", " holds 1 element ", 1)
		}
		return text
	case "local":
		return "beyond the thread's local memory"
	}
	return raw.Note
}

// calls says what the kernel calls an array whose name is another one: ", its parameter x".
func (m *module) calls(raw rawFinding) string {
	var names []string
	for _, s := range m.signatures {
		if s.Name != raw.Kernel {
			continue
		}
		for _, i := range raw.Passed {
			if i < len(s.Params) {
				names = append(names, s.Params[i].Name)
			}
		}
	}
	if len(names) == 0 || slices.Contains(names, raw.Name) {
		return ""
	}
	return ", the kernel's " + strings.Join(names, " and ")
}

func triple(t [3]int) string { return fmt.Sprintf("(%d,%d,%d)", t[0], t[1], t[2]) }

func opWord(op string) string {
	if op == "atomic" {
		return "atomic operation"
	}
	return op
}

func pastWord(op string) string {
	return map[string]string{"read": "read", "write": "wrote", "atomic": "changed"}[op]
}

func presentWord(op string) string {
	return map[string]string{"read": "reads", "write": "writes", "atomic": "changes"}[op]
}
