package harmless

import (
	"fmt"
	"io"
	"os"
	"reflect"
)

// Printf is fmt's, with every text among the arguments made safe. What must not begin a line of its own is a Line.
func Printf(format string, args ...any) { fmt.Printf(format, Args(args)...) }

// Println is fmt's in the same way.
func Println(args ...any) { fmt.Println(Args(args)...) }

// Fprint is fmt's in the same way.
func Fprint(w io.Writer, args ...any) { fmt.Fprint(w, Args(args)...) }

// Fprintf is fmt's in the same way.
func Fprintf(w io.Writer, format string, args ...any) { fmt.Fprintf(w, format, Args(args)...) }

// Fprintln is fmt's in the same way.
func Fprintln(w io.Writer, args ...any) { fmt.Fprintln(w, Args(args)...) }

// Print is fmt's in the same way.
func Print(args ...any) (int, error) { return fmt.Print(Args(args)...) }

// Errorln prints to the standard error.
func Errorln(args ...any) { Fprintln(os.Stderr, args...) }

// Args are arguments for fmt, with the texts among them made safe.
func Args(args []any) []any {
	safe := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case string:
			safe[i] = Text(a)
		case error:
			safe[i] = Text(a.Error())
		case fmt.Stringer:
			safe[i] = Text(a.String())
		case []string:
			all := make([]string, len(a))
			for j, s := range a {
				all[j] = Text(s)
			}
			safe[i] = all
		default:
			safe[i] = a
			if v := reflect.ValueOf(a); v.Kind() == reflect.String { // of a type of its own
				safe[i] = Text(v.String())
			}
		}
	}
	return safe
}
