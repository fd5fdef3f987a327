package slurm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// SiteName is the file with a cluster's own settings, in the course's folder.
const SiteName = "site.toml"

// Site is what a cluster wants to know about a job: site.toml.
type Site struct {
	Partition string
	Account   string
	QOS       string
	GRES      string   // "gpu:1"
	Time      int      // minutes
	CPUs      int      // per task
	Memory    string   // "16G"
	Modules   []string // loaded by `module load`
	Setup     []string // further lines for the job's shell
	Cache     string   // where Go and flashlab keep what they build; a job's own variables may be in it
	Options   []string // anything else for sbatch: "--constraint=h100"
}

// Defaults are a site without a file.
func Defaults() Site { return Site{GRES: "gpu:1", Time: 15, CPUs: 4, Memory: "16G"} }

// Example is a site.toml to start from.
const Example = `# How jobs are sent to this cluster: make gpu TASK=4. Your cluster's pages say
# what to write; leave out what they do not ask for.
partition = "gpu"        # sinfo lists them
account   = "course"
gres      = "gpu:1"      # or gpu:h100:1
time      = 15           # minutes
cpus      = 4
memory    = "16G"
modules   = ["cuda/12.4", "gcc/12"]
cache     = "/scratch/$USER/flashlab"
options   = []           # anything else for sbatch, as "--constraint=h100"
`

// LoadSite reads site.toml. Without one it returns the defaults, and found is
// false.
func LoadSite(file string) (s Site, found bool, err error) {
	s = Defaults()
	meta, err := toml.DecodeFile(file, &s)
	if errors.Is(err, fs.ErrNotExist) {
		return Defaults(), false, nil
	}
	if err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return s, true, fmt.Errorf("%s:%d: %s", file, parse.Position.Line, parse.Message)
		}
		return s, true, fmt.Errorf("%s: %w", file, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return s, true, fmt.Errorf("%s: unknown key %q", file, unknown[0].String())
	}
	if err := s.check(); err != nil {
		return s, true, fmt.Errorf("%s: %w", file, err)
	}
	return s, true, nil
}

// Parse reads a site from a command line: partition=gpu,gres=gpu:1,time=60. What
// it does not name stays as in base.
func Parse(base Site, text string) (Site, error) {
	s := base
	for _, part := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if key == "" && !ok {
			continue
		}
		var err error
		switch key {
		case "partition":
			s.Partition = value
		case "account":
			s.Account = value
		case "qos":
			s.QOS = value
		case "gres":
			s.GRES = value
		case "mem", "memory":
			s.Memory = value
		case "time":
			s.Time, err = strconv.Atoi(value)
		case "cpus":
			s.CPUs, err = strconv.Atoi(value)
		case "module":
			s.Modules = append(s.Modules, value)
		case "cache":
			s.Cache = value
		default:
			ok = false
		}
		if err != nil || !ok {
			return s, fmt.Errorf("slurm: what is %q? Want partition=, account=, qos=, gres=, mem=, time= (minutes), cpus=, module= or cache=, with commas in between", part)
		}
	}
	return s, s.check()
}

// word is what an option of sbatch may contain.
var word = regexp.MustCompile(`^[A-Za-z0-9_.:,=@+/%&|*\[\]-]*$`)

func (s Site) check() error {
	for key, value := range map[string]string{"partition": s.Partition, "account": s.Account, "qos": s.QOS, "gres": s.GRES, "memory": s.Memory} {
		if !word.MatchString(value) {
			return fmt.Errorf("%s = %q: want one word, as sbatch takes it", key, value)
		}
	}
	if s.Time < 1 || s.CPUs < 1 {
		return fmt.Errorf("time = %d and cpus = %d: want at least 1 (minute, processor)", s.Time, s.CPUs)
	}
	for _, m := range s.Modules {
		if !word.MatchString(m) || m == "" {
			return fmt.Errorf("modules: %q: want a name as module load takes it", m)
		}
	}
	for _, o := range s.Options {
		if !strings.HasPrefix(o, "-") {
			return fmt.Errorf("options: %q: want an option of sbatch, such as \"--constraint=h100\"", o)
		}
	}
	return nil
}

func (s Site) flags() []string {
	flags := []string{"--nodes=1", "--ntasks=1", fmt.Sprintf("--time=%d", s.Time), fmt.Sprintf("--cpus-per-task=%d", s.CPUs)}
	for _, f := range []struct{ option, value string }{
		{"--partition=", s.Partition}, {"--account=", s.Account}, {"--qos=", s.QOS}, {"--gres=", s.GRES}, {"--mem=", s.Memory},
	} {
		if f.value != "" {
			flags = append(flags, f.option+f.value)
		}
	}
	return append(flags, s.Options...)
}

// kept are the variables of the submitting shell that a job gets. All others stay
// behind: a job should not depend on what somebody once typed.
var kept = []string{"HOME", "USER", "LOGNAME", "LANG", "PATH", "GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "CUDA_HOME", "CXX", "FLASHLAB_CACHE"}

// prologue is the head of a job's script: its environment.
func (s Site) prologue() string {
	var b strings.Builder
	for _, name := range kept {
		if value, ok := os.LookupEnv(name); ok {
			fmt.Fprintf(&b, "export %s=%s\n", name, Quote(value))
		}
	}
	if s.Cache != "" { // in double quotes: $USER and the job's own variables are to be expanded
		fmt.Fprintf(&b, "export GOCACHE=\"%[1]s/go\" FLASHLAB_CACHE=\"%[1]s/cache\"\nmkdir -p \"$GOCACHE\" \"$FLASHLAB_CACHE\"\n",
			strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$(", "\\$(").Replace(s.Cache))
	}
	if len(s.Modules) > 0 {
		b.WriteString("type module >/dev/null 2>&1 || . /etc/profile\n")
		for _, m := range s.Modules {
			fmt.Fprintf(&b, "module load %s || { echo 'module load %s failed (modules in site.toml)'; exit 2; }\n", m, m)
		}
	}
	for _, line := range s.Setup {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Quote turns a text into one word for the shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
