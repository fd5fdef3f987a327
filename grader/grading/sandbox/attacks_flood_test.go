package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// What takes more than its share, or never ends.

func forkBomb([]string) (string, error) {
	for n := range 1000 {
		cmd := exec.Command("/bin/sleep", "60")
		if err := cmd.Start(); err != nil {
			return "", fmt.Errorf("after %d: %w", n, err)
		}
	}
	return "1000 processes", nil
}

func memoryBomb([]string) (string, error) {
	for n := range 64 {
		block := make([]byte, 64<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		kept = append(kept, block)
		fmt.Fprintln(os.Stderr, n)
	}
	return "4 GB", nil
}

var kept [][]byte

func fileWithoutEnd(args []string) (string, error) {
	f, err := os.Create(filepath.Join(args[1], "endless"))
	if err != nil {
		return "", err
	}
	block := make([]byte, 1<<20)
	for n := range 2000 {
		if _, err := f.Write(block); err != nil {
			return "", fmt.Errorf("after %d MB: %w", n, err)
		}
	}
	return "a file of 2 GB", nil
}

func fillDisk([]string) (string, error) { return fill("/tmp", 3000) }

func fillShared([]string) (string, error) { return fill("/dev/shm", 300) }

func fill(dir string, megabytes int) (string, error) {
	block := make([]byte, 1<<20)
	for n := range megabytes {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), block, 0o600); err != nil {
			return "", fmt.Errorf("after %d MB: %w", n, err)
		}
	}
	return fmt.Sprintf("%d MB in %s", megabytes, dir), nil
}

func neverEnd([]string) (string, error) {
	for n := 0; ; n++ {
		if n < 0 {
			return "", nil
		}
	}
}

func printWithoutEnd([]string) (string, error) {
	line := bytes.Repeat([]byte("x"), 1<<16)
	for {
		_, _ = os.Stderr.Write(line)
	}
}
