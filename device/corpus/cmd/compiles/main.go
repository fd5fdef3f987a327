// Command compiles tells how many .cu files of other people the simulator takes, and what
// stops the others:
//
//	compiles -I folder/Common folder …
//
// For each folder it prints the share of those files that hold device code, with the
// templates that their host side launches by arguments that can be read; then the reasons,
// each with its files. It reads, and leaves nothing but the cache.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"flashlab/device"
	"flashlab/device/sim"
)

func main() {
	var include folders
	flag.Var(&include, "I", "a folder that files include from (may be repeated)")
	workers := flag.Int("j", 2, "compilers at a time")
	compiler := flag.String("cxx", "", "the C++ compiler")
	only := flag.String("only", "", "a part of the names of the files to try")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: compiles [-I FOLDER]… FOLDER…")
		os.Exit(2)
	}
	d, err := sim.Start(sim.Options{Compiler: *compiler})
	if err != nil {
		fmt.Fprintln(os.Stderr, "compiles:", err)
		os.Exit(1)
	}
	defer d.Close()
	for _, root := range flag.Args() {
		if err := measure(d, root, include, *workers, *only); err != nil {
			fmt.Fprintln(os.Stderr, "compiles:", err)
			os.Exit(1)
		}
	}
}

// folders are a flag that may be repeated.
type folders []string

func (f *folders) String() string     { return strings.Join(*f, ":") }
func (f *folders) Set(s string) error { *f = append(*f, s); return nil }

// outcome is what came of one file.
type outcome struct {
	file   string
	host   bool     // it has no device code
	reason string   // "" if it compiles
	left   []string // kernels that cannot run, and templates that were not tried
}

func measure(d *sim.Device, root string, include []string, workers int, only string) error {
	var files []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".cu" && strings.Contains(path, only) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	outcomes := make([]outcome, len(files))
	slots := make(chan struct{}, workers)
	var wg sync.WaitGroup
	for i, file := range files {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			outcomes[i] = try(d, file, include)
			fmt.Fprintf(os.Stderr, "%s\t%s\n", strings.TrimPrefix(file, root+"/"), cmp.Or(outcomes[i].reason, "ok"))
		})
	}
	wg.Wait()
	show(root, outcomes)
	return nil
}

// deviceCode is in every file that counts.
var deviceCode = regexp.MustCompile(`\b(?:__global__|__device__)\b`)

func try(d *sim.Device, file string, include []string) outcome {
	o := outcome{file: file}
	src, err := gather(file, include)
	if err != nil {
		o.reason = err.Error()
		return o
	}
	o.host = !deviceCode.MatchString(src.Text)
	for _, text := range src.Files {
		o.host = o.host && !deviceCode.MatchString(text)
	}
	if o.host {
		return o
	}
	wanted := instances(src)
	plain := src
	src.Kernels = wanted
	_, err = d.Compile(src)
	if err != nil && len(wanted) > 0 {
		if _, without := d.Compile(plain); without == nil {
			o.left = append(o.left, "templates: "+reason(err))
			err = nil
		} else {
			err = without
		}
	}
	if err != nil {
		o.reason = reason(err)
	}
	return o
}

// reason is an error's first line of substance, without its place.
func reason(err error) string {
	var e *device.CompileError
	if errors.As(err, &e) && len(e.Diagnostics) > 0 {
		first := e.Diagnostics[0]
		return fmt.Sprintf("%s\t%s:%d", first.Text, first.File, first.Line)
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

func show(root string, outcomes []outcome) {
	all, good := 0, 0
	reasons := map[string][]string{}
	for _, o := range outcomes {
		if o.host {
			continue
		}
		if all++; o.reason == "" {
			good++
		}
		for _, r := range append(o.left, o.reason) {
			if text, place, _ := strings.Cut(r, "\t"); r != "" {
				reasons[text] = append(reasons[text], strings.TrimPrefix(o.file, root+"/")+" "+place)
			}
		}
	}
	fmt.Printf("%s: %d of %d files with device code compile (%.1f %%); %d more are the host's alone\n",
		root, good, all, 100*float64(good)/float64(max(all, 1)), len(outcomes)-all)
	var texts []string
	for text := range reasons {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(reasons[b]), len(reasons[a])), cmp.Compare(a, b))
	})
	for _, text := range texts {
		fmt.Printf("  %3d  %s\n", len(reasons[text]), text)
		for _, file := range reasons[text] {
			fmt.Printf("         %s\n", file)
		}
	}
}
