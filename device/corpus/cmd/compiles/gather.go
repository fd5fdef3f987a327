package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
)

var includeLine = regexp.MustCompile(`(?m)^([ \t]*#[ \t]*include[ \t]*)([<"])([^>"\n]+)[>"]`)

// gather reads a file and what it includes from its own folder or the others. Each of
// these gets a plain name, and the lines that include it say so.
func gather(file string, include []string) (device.Source, error) {
	src := device.Source{Name: plainName(filepath.Base(file)), Files: map[string]string{}}
	names := map[string]string{} // by path
	var read func(path string) (string, error)
	read = func(path string) (string, error) {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		text := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufeff", "")
		return includeLine.ReplaceAllStringFunc(text, func(line string) string {
			m := includeLine.FindStringSubmatch(line)
			at := find(m[3], filepath.Dir(path), filepath.Dir(file), include)
			if at == "" {
				return line
			}
			if names[at] == "" {
				names[at] = fmt.Sprintf("own%d_%s", len(names), plainName(filepath.Base(at)))
				if text, err := read(at); err == nil {
					src.Files[names[at]] = text
				}
			}
			return m[1] + `"` + names[at] + `"`
		}), nil
	}
	var err error
	src.Text, err = read(file)
	return src, err
}

func plainName(name string) string {
	return regexp.MustCompile(`[^A-Za-z0-9_.-]`).ReplaceAllString(name, "_")
}

// find is the path of an included file, or "" if it is none of ours. Of folders that have
// such a file, the one nearest to the file that includes it counts.
func find(name, here, top string, include []string) string {
	near := slices.Clone(include)
	slices.SortStableFunc(near, func(a, b string) int { return common(b, here) - common(a, here) })
	for _, folder := range append([]string{here, top}, near...) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

// common is how many bytes two paths begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

var (
	launched = regexp.MustCompile(`\b(\w+)\s*<([\w\s,:]+)>\s*<<<`)
	constant = regexp.MustCompile(`(?m)^\s*(?:static\s+)?(?:const|constexpr)(?:\s+(?:constexpr|const|int|unsigned|uint|auto|size_t|long|bool))+\s+(\w+)\s*=\s*(\w+)\s*;|^\s*#\s*define\s+(\w+)\s+\(?(\d+)\)?\s*$`)
	plainArg = regexp.MustCompile(`^(?:\d+u?|true|false|(?:unsigned )?(?:float|double|int|char|short|long long|long)|half|__half|half2|float[24]|uint|unsigned|__nv_bfloat16|nv_bfloat16|uchar4|uint[234]?|int[24])$`)
)

// instances are the templates that the file's host side launches, where their arguments
// are numbers, types, or constants with one value in the file.
func instances(src device.Source) []string {
	values := map[string][]string{}
	for _, m := range constant.FindAllStringSubmatch(src.Text, -1) {
		name, value := m[1]+m[3], m[2]+m[4]
		if !slices.Contains(values[name], value) {
			values[name] = append(values[name], value)
		}
	}
	var all []string
	for _, m := range launched.FindAllStringSubmatch(src.Text, -1) {
		args := strings.Split(m[2], ",")
		plain := true
		for i, a := range args {
			a = strings.Join(strings.Fields(a), " ")
			if v := values[a]; len(v) == 1 {
				a = v[0]
			}
			args[i] = a
			plain = plain && plainArg.MatchString(a)
		}
		if e := m[1] + "<" + strings.Join(args, ", ") + ">"; plain && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}
