// Package copies finds code that the course ships itself in what is handed in: to grade themselves,
// students have kernels and functions that come close to what a task asks for. It compares tokens: all
// identifiers count as alike, and comments and layout as nothing.
package copies

import (
	"go/scanner"
	"go/token"
	"path"
	"strings"
	"unicode/utf8"

	"flashlab/device"
)

// Token is a token's kind, and the line where it stands.
type Token struct {
	Kind uint32
	Line int32
}

// Kinds that stand for many texts. Keywords and operators have the hash of their own text.
const (
	identifier uint32 = iota + 1
	number
	text
)

// Tokens cuts a file up, and leaves out what says nothing; nil for a file that is neither Go nor CUDA.
func Tokens(name string, data []byte) []Token { return telling(cut(name, data)) }

// cut are all tokens.
func cut(name string, data []byte) []Token {
	switch path.Ext(name) {
	case ".go":
		return goTokens(data)
	case ".cu", ".cuh", ".h":
		return cudaTokens(device.BlankNonCode(string(data)), emptyFrom(string(data)))
	}
	return nil
}

// telling leaves out braces and semicolons: any number of them may stand around a statement, and between two.
func telling(all []Token) (kept []Token) {
	for _, t := range all {
		if t.Kind != semicolon && t.Kind != brace && t.Kind != endBrace {
			kept = append(kept, t)
		}
	}
	return kept
}

func goTokens(data []byte) (all []Token) {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(data))
	var s scanner.Scanner
	s.Init(file, data, func(token.Position, string) {}, 0) // broken files are cut up as far as that goes
	for {
		at, t, _ := s.Scan()
		if t == token.EOF {
			break
		}
		kind := uint32(0)
		switch {
		case t == token.SEMICOLON: // or a newline, which says the same
			kind = semicolon
		case t == token.IDENT:
			kind = identifier
		case t == token.STRING || t == token.CHAR:
			kind = text
		case t.IsLiteral():
			kind = number
		default:
			kind = hash(t.String())
		}
		all = append(all, Token{kind, int32(file.Line(at))})
	}
	return all
}

// words of CUDA that are no author's choice; all other names are identifiers.
var words = set(`alignas auto bool break case char class const constexpr continue default do double else enum extern false
float for goto if inline int long namespace nullptr operator return short signed sizeof static static_assert struct switch
template true typedef typename union unsigned using void volatile while
__global__ __device__ __host__ __shared__ __constant__ __restrict__ __forceinline__ __launch_bounds__
__syncthreads __syncwarp __shfl_sync __shfl_xor_sync __shfl_down_sync __ldg atomicAdd
threadIdx blockIdx blockDim gridDim float2 float4 half __half __half2`)

// Word tells whether a name is no author's choice.
func Word(name string) bool { return words[name] }

func set(list string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(list) {
		all[w] = true
	}
	return all
}

// cudaTokens cuts up a text whose comments, directives and insides of strings are blanked, and leaves out macros that
// stand for nothing, each from its definition on.
func cudaTokens(code string, nothing map[string]int) (all []Token) {
	line := int32(1)
	for i := 0; i < len(code); {
		c := code[i]
		end := i + 1
		switch {
		case c == '\n':
			line++
			i++
			continue
		case c <= ' ':
			i++
			continue
		case c == '"' || c == '\'':
			for end < len(code) && code[end] != c && code[end] != '\n' {
				end++
			}
			if end < len(code) && code[end] == c {
				end++
			}
			all = append(all, Token{text, line})
		case digit(c) || c == '.' && end < len(code) && digit(code[end]):
			for end < len(code) && (letter(code[end]) || digit(code[end]) || code[end] == '.' || code[end] == '\'') {
				end++
			}
			all = append(all, Token{number, line})
		case letter(c) || c >= utf8.RuneSelf:
			for end < len(code) && (letter(code[end]) || digit(code[end]) || code[end] >= utf8.RuneSelf) {
				end++
			}
			kind := identifier
			if words[code[i:end]] {
				kind = hash(code[i:end])
			}
			if from, is := nothing[code[i:end]]; is && i >= from {
				break
			}
			if signs, is := spelled[code[i:end]]; is {
				all = append(all, ofSigns(signs, line)...)
				break
			}
			all = append(all, Token{kind, line})
		default:
			all = append(all, Token{hash(code[i:end]), line})
		}
		i = end
	}
	return all
}

// spelled are C++'s words for signs; kinds are those of single signs.
var spelled = map[string]string{"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~",
	"and_eq": "&=", "or_eq": "|=", "xor_eq": "^=", "not_eq": "!="}

func ofSigns(signs string, line int32) (all []Token) {
	for i := range len(signs) {
		all = append(all, Token{hash(signs[i : i+1]), line})
	}
	return all
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// hash is FNV-1a, kept off the kinds above.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h | 1<<31
}
