package sim

import (
	"errors"
	"fmt"
	"regexp"

	"flashlab/device"
)

var (
	noHeader = regexp.MustCompile(`the simulator has no header ([^;]+);()`)
	noCall   = regexp.MustCompile(`['‘](cuda\w+|cu[A-Z]\w*|cublas\w+|curand\w+|cufft\w+|cusparse\w+|cusolver\w+|nccl\w+|nvml\w+|thrust|cub)['’] (?:was not declared|has not been declared|does not name)|(?:undeclared identifier|unknown type name) '(cuda\w+|cu[A-Z]\w*)'`)
)

// withoutHeader says it in one sentence.
func withoutHeader(err error) error {
	return reword(err, noHeader, "there is no %s: name its folder with -I; of CUDA's libraries, only its runtime is served")
}

// withoutCall names what of CUDA's runtime, or of its libraries, is not served.
func withoutCall(err error) error {
	return reword(err, noCall, "flashlab-run does not serve %s")
}

func reword(err error, pattern *regexp.Regexp, format string) error {
	var e *device.CompileError
	if !errors.As(err, &e) {
		return err
	}
	for i := range e.Diagnostics {
		if m := pattern.FindStringSubmatch(e.Diagnostics[i].Text); m != nil {
			e.Diagnostics[i].Text = fmt.Sprintf(format, m[1]+m[2])
		}
	}
	return err
}

// plainLacking is an error about inline PTX, as one of the compiler's.
func plainLacking(err error) error {
	var l *lackingError
	if errors.As(err, &l) {
		return l.compileError()
	}
	return err
}
