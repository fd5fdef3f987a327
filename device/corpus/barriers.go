package corpus

import (
	"fmt"
	"regexp"
	"strings"

	"flashlab/device"
)

// barrier is the statement that deletions take out.
const barrier = "__syncthreads();"

// spareMark is on the line of a barrier that is there for clarity: without it
// the kernel is still right.
const spareMark = "// spare"

// Deletion is a kernel with one barrier taken out.
type Deletion struct {
	Case    string // that launches it: "gemm_tiled/33x47x29"
	Kernel  string
	Line    int    // of the barrier, in the kernel's file
	Spare   bool   // the barrier was not needed
	variant string // the kernel's name without that barrier
	file    string
}

// barrierCases are those whose kernels' barriers are deleted, one by one.
var barrierCases = []string{
	"sum_tree/5000", "scan_in_place/201", "transpose_tiled/37x75", "gemm_tiled/33x47x29", "gemm_double/33x47x29",
	"softmax_tree/5x301", "layer_norm/5x204", "histogram_shared/3333", "flash_tile/2x48 causal=0", "stencil_1d/333",
	// More than ten, for they are there.
	"scan_blelloch/2999", "scan_hillis_steele/256", "scan_warp/256", "gemm_register/65x99x29", "gemm_warp/128x64x48",
	"flash_thread/2x48 causal=0", "flash_warp/2x48 causal=0", "softmax_online/5x301", "bitonic_block/300",
	"sum_unrolled/5000", "argmax/1000", "conv_2d/37x29", "wmma_tiled/45x37x30", "tf32_gemm/45x37x50", "half_gemm/80x32x48", "gemm_async/45x36x52",
}

// function is a top-level function of a .cu file, from its template line or
// qualifiers to the closing brace in the first column.
type function struct {
	name, text string
	line       int // of its first
}

var (
	functionStart = regexp.MustCompile(`^(template\b|__device__|extern "C" __global__)`)
	functionName  = regexp.MustCompile(`(\w+)\s*\(`)
	notAName      = map[string]bool{"__launch_bounds__": true, "__align__": true}
)

// functions finds the functions of a file that clang-format has formatted.
func functions(text string) []function {
	var found []function
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if !functionStart.MatchString(lines[i]) {
			continue
		}
		end := i
		for end < len(lines) && lines[end] != "}" && !strings.HasSuffix(lines[end], ";") || strings.HasPrefix(lines[min(end, len(lines)-1)], " ") {
			end++
		}
		if end >= len(lines) || lines[end] != "}" {
			continue // a variable
		}
		f := function{text: strings.Join(lines[i:end+1], "\n"), line: i + 1}
		for _, m := range functionName.FindAllStringSubmatch(f.text, -1) {
			if !notAName[m[1]] {
				f.name = m[1]
				break
			}
		}
		found = append(found, f)
		i = end
	}
	return found
}

// Deletions lists every deletion, and the text of the files with a variant of
// the kernel for each of them at their end.
func Deletions() ([]Deletion, map[string]string, error) {
	byName := map[string]Case{}
	for _, c := range Cases() {
		byName[c.Name] = c
	}
	var all []Deletion
	texts := map[string]string{}
	for _, name := range barrierCases {
		c, ok := byName[name]
		if !ok {
			return nil, nil, fmt.Errorf("no case is called %q", name)
		}
		file, err := fileOf(c.Kernels[0])
		if err != nil {
			return nil, nil, err
		}
		original, _ := Text(file)
		if texts[file] == "" {
			texts[file] = original
		}
		for _, d := range deletions(functions(original), c, file) {
			all = append(all, d.Deletion)
			texts[file] += "\n" + d.text + "\n"
		}
	}
	return all, texts, nil
}

// fileOf finds the file in kernels/ that defines a kernel.
func fileOf(kernel string) (string, error) {
	for _, file := range Files() {
		text, err := Text(file)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(file, "kernels/") {
			if _, err := device.FindKernel(file, device.ScanKernels(text), kernel); err == nil {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("no file defines the kernel %s", kernel)
}

type variant struct {
	Deletion
	text string
}

// deletions makes a variant of a case's kernel for each of its barriers, and for
// each barrier of the functions that it calls.
func deletions(file []function, c Case, name string) []variant {
	kernel := file[indexOf(file, c.Kernels[0])]
	var all []variant
	for _, f := range file {
		if f.name != kernel.name && !regexp.MustCompile(`\b`+f.name+`\(`).MatchString(kernel.text) || strings.Contains(f.text, `"C"`) && f.name != kernel.name {
			continue
		}
		lines := strings.Split(f.text, "\n")
		for i, line := range lines {
			if !strings.Contains(line, barrier) {
				continue
			}
			suffix := fmt.Sprintf("_without_%d", f.line+i)
			without := append([]string{}, lines...)
			without[i] = strings.Replace(line, barrier, ";", 1)
			text := renamed(strings.Join(without, "\n"), f.name, f.name+suffix)
			if f.name != kernel.name {
				text += "\n" + renamed(renamed(kernel.text, f.name, f.name+suffix), kernel.name, kernel.name+suffix)
			}
			all = append(all, variant{Deletion{c.Name, kernel.name, f.line + i, strings.Contains(line, spareMark), kernel.name + suffix, name}, text})
		}
	}
	return all
}

func indexOf(file []function, name string) int {
	for i, f := range file {
		if f.name == name {
			return i
		}
	}
	return 0
}

func renamed(text, from, to string) string {
	return regexp.MustCompile(`\b`+from+`\b`).ReplaceAllString(text, to)
}
