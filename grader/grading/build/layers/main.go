// Layers is a build cache for the go command (GOCACHEPROG) made of folders: it finds what
// any of them has, and writes to the last alone. So a build in a sandbox reads a warm cache
// that it cannot change, and nothing of that cache has to be copied or linked.
//
//	GOCACHEPROG="layers WARM OWN" go build
//
// Where the warm cache is filled, -from names go's own build cache on this machine: what that has is
// copied, not compiled again.
//
//	GOCACHEPROG="layers -from GOCACHE WARM" go build
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"flashlab/internal/cache"
)

// request and response are the go command's: see `go doc cmd/go/internal/cacheprog`.
type request struct {
	ID       int64
	Command  string
	ActionID []byte
	OutputID []byte
	BodySize int64
}

type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

func main() {
	from := flag.String("from", "", "go's own build `cache`: what only that has is copied to the last folder")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "layers [-from CACHE] FOLDER...: a build cache; the go command starts it")
		os.Exit(2)
	}
	if err := (layers{flag.Args(), *from}).serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "build cache:", err)
		os.Exit(1)
	}
}

// layers are folders, the last of which is written to, and go's own cache or "".
type layers struct {
	dirs []string
	own  string
}

func (l layers) serve(in io.Reader, out io.Writer) error {
	from, to := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	if err := to.Encode(response{KnownCommands: []string{"get", "put", "close"}}); err != nil {
		return err
	}
	for {
		var r request
		if err := from.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var body []byte // encoding/json reads base64
		if r.Command == "put" && r.BodySize > 0 {
			if err := from.Decode(&body); err != nil {
				return err
			}
		}
		a := response{ID: r.ID}
		switch r.Command {
		case "get":
			l.get(r, &a)
		case "put":
			if err := l.put(r, body, &a); err != nil {
				a.Err = err.Error()
			}
		}
		if err := to.Encode(a); err != nil {
			return err
		}
		if r.Command == "close" {
			return nil
		}
	}
}

// entry is what an action made. Its output is a file beside it, named by what it contains.
type entry struct {
	Output []byte
	Size   int64
	Time   time.Time
}

func (l layers) get(r request, a *response) {
	for _, dir := range l.dirs {
		text, err := os.ReadFile(entryPath(dir, r.ActionID))
		var e entry
		if err != nil || json.Unmarshal(text, &e) != nil {
			continue
		}
		at := outputPath(dir, e.Output)
		if info, err := os.Stat(at); err == nil && info.Size() == e.Size {
			a.OutputID, a.Size, a.Time, a.DiskPath = e.Output, e.Size, &e.Time, at
			return
		}
	}
	if body, output, ok := fromGo(l.own, r.ActionID); ok && l.put(request{ActionID: r.ActionID, OutputID: output, BodySize: int64(len(body))}, body, a) == nil {
		now := time.Now()
		a.OutputID, a.Size, a.Time = output, int64(len(body)), &now
		return
	}
	a.DiskPath, a.Miss = "", true
}

func (l layers) put(r request, body []byte, a *response) error {
	if int64(len(body)) != r.BodySize {
		return fmt.Errorf("%d bytes came, %d were announced", len(body), r.BodySize)
	}
	dir := l.dirs[len(l.dirs)-1]
	text, err := json.Marshal(entry{r.OutputID, r.BodySize, time.Now()})
	if err != nil {
		return err
	}
	a.DiskPath = outputPath(dir, r.OutputID)
	if err := os.MkdirAll(filepath.Dir(a.DiskPath), 0o755); err != nil {
		return err
	}
	if err := cache.WriteFile(a.DiskPath, body, 0o644); err != nil {
		return err
	}
	return cache.WriteFile(entryPath(dir, r.ActionID), text, 0o644)
}

func entryPath(dir string, action []byte) string {
	return filepath.Join(dir, "layer", hex.EncodeToString(action)+".json")
}

func outputPath(dir string, output []byte) string {
	return filepath.Join(dir, "layer", hex.EncodeToString(output))
}
