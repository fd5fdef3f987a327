package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"flashlab/grader/release"
	"flashlab/internal/repo"
)

// releaseCommand writes the students' tree of the last commit.
func releaseCommand(args []string) (int, error) {
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	version := f.String("version", "", "what to call it, `2027.1`; the commit's date without it")
	if err := f.Parse(args); err != nil {
		return exitFailed, err
	}
	if f.NArg() != 1 {
		return exitFailed, errors.New("release: say where to: release [-version 2027.1] FOLDER")
	}
	root, err := repo.Root()
	if err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t, err := release.Make(ctx, root, *version)
	if err != nil {
		return exitFailed, fmt.Errorf("release: %w", err)
	}
	folder, zipped, err := t.Write(f.Arg(0))
	if err != nil {
		return exitFailed, fmt.Errorf("release: %w", err)
	}
	fmt.Printf("Release %s: %d files, %d of them for students to change\n", t.Name, len(t.Contents), len(t.Yours))
	fmt.Println("Searched for solutions, hidden cases and trial submissions: none is in it")
	fmt.Printf("Written: %s and %s\n", folder, zipped)
	if t.Dirty {
		fmt.Println("warning: the working tree has changes that are not committed; they are not in the release")
	}
	return exitFull, nil
}
