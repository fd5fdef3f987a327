package device

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	directiveLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(\w+)((?:\\\n|.)*)$`)
	macroAtHead   = regexp.MustCompile(`^[ \t]+([A-Za-z_]\w*)(?:\(([^()]*)\))?`)
	wholeName     = regexp.MustCompile(`\b[A-Za-z_]\w*`)
	noMacroNames  = regexp.MustCompile(`^(?:and|or|xor|not|bitand|bitor|compl|and_eq|or_eq|xor_eq|not_eq|defined)$`)
	// libraryMacros of C's are what they are to our headers, too.
	libraryMacros = regexp.MustCompile(`^(?:NAN|INFINITY|NULL|\w+_(?:MAX|MIN)|M_PI\w*|NDEBUG|assert|offsetof|errno|std(?:in|out|err)|va_\w+)$`)
)

// Guarded are headers of ours that no macro of their reader's gets into: no name that one uses, for a parameter,
// a type or a member, is a macro from its first line to its last, and each is behind it what it was before. So
// a reader may say `#define N 4` and include it. The headers may use each other's macros. Lines keep their
// numbers.
func Guarded(headers map[string]string) map[string]string {
	own, inMacros, code := map[string]bool{}, map[string]bool{}, map[string]string{}
	for name, text := range headers {
		code[name] = withoutDirectives(text, inMacros, own)
	}
	guarded := map[string]string{}
	for name, text := range headers {
		used := maps.Clone(inMacros)
		for _, word := range wholeName.FindAllString(code[name], -1) {
			used[word] = true
		}
		var before, after strings.Builder
		for _, word := range slices.Sorted(maps.Keys(used)) {
			if !own[word] && mayBeMacro(word) {
				fmt.Fprintf(&before, "#pragma push_macro(\"%[1]s\")\n#undef %[1]s\n", word)
				fmt.Fprintf(&after, "#pragma pop_macro(\"%s\")\n", word)
			}
		}
		guarded[name] = before.String() + "#line 1\n" + strings.TrimRight(text, "\n") + "\n" + after.String()
	}
	return guarded
}

// GuardKey is part of the key of what guarded headers make.
//
//go:embed guarded.go
var GuardKey string

// GuardedHeader is that for one header alone.
func GuardedHeader(text string) string { return Guarded(map[string]string{"": text})[""] }

// Undefined makes sure that no name of a text is a macro any longer: the text comes last.
func Undefined(text string) string {
	var b strings.Builder
	names := wholeName.FindAllString(text, -1)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if mayBeMacro(name) {
			fmt.Fprintf(&b, "#undef %s\n", name)
		}
	}
	return b.String()
}

func mayBeMacro(name string) bool {
	return !reservedName.MatchString(name) && !noMacroNames.MatchString(name) && !libraryMacros.MatchString(name)
}

// withoutDirectives is a header's code. What its macros come to is used; their names are its own, as are those
// that it asks for.
func withoutDirectives(text string, used, own map[string]bool) string {
	return directiveLine.ReplaceAllStringFunc(BlankComments(text), func(line string) string {
		m := directiveLine.FindStringSubmatch(line)
		switch m[1] {
		case "define":
			head := macroAtHead.FindStringSubmatch(m[2])
			if head == nil {
				return ""
			}
			own[head[1]] = true
			parameters := wholeName.FindAllString(head[2], -1)
			for _, name := range wholeName.FindAllString(m[2][len(head[0]):], -1) {
				if !slices.Contains(parameters, name) {
					used[name] = true
				}
			}
		case "if", "elif", "ifdef", "ifndef":
			for _, name := range wholeName.FindAllString(m[2], -1) {
				own[name] = true
			}
		}
		return ""
	})
}

// reservedName is what C++ keeps from programs, for compilers and libraries, and what our own headers keep:
// wherever a macro of theirs brings a name into a reader's code, it is such a one.
var reservedName = regexp.MustCompile(`^(?:_[A-Z_]|simt(?:_|$)|SIMT_|flashlab_|FLASHLAB_)`)

// keywords are C++'s.
var keywords = regexp.MustCompile(`^(?:alignas|alignof|asm|auto|bool|break|case|catch|char|char16_t|char32_t|class|const|constexpr|const_cast|continue|decltype|default|delete|do|double|dynamic_cast|else|enum|explicit|export|extern|false|float|for|friend|goto|if|inline|int|long|mutable|namespace|new|noexcept|nullptr|operator|private|protected|public|register|reinterpret_cast|return|short|signed|sizeof|static|static_assert|static_cast|struct|switch|template|this|thread_local|throw|true|try|typedef|typeid|typename|union|unsigned|using|virtual|void|volatile|wchar_t|while)$`)

// RefuseMacro is why no macro should have a name, or "".
func RefuseMacro(name string) string {
	switch {
	case keywords.MatchString(name) || noMacroNames.MatchString(name):
		return name + " is a word of C++: take another name for the macro"
	case reservedName.MatchString(name) && name != "FLASHLAB_TORCH": // whose purpose is to be defined
		return "names such as " + name + " are the compiler's and its headers': take another one for the macro"
	}
	return ""
}

// DefineLines are the macros as lines of a header, which is read before the file and behind what the compiler
// reads by itself.
func (s Source) DefineLines() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Defines)) {
		fmt.Fprintf(&b, "#define %s %s\n", name, s.Defines[name])
	}
	return b.String()
}
