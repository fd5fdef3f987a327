package corpus

import (
	"os"
	"testing"

	"flashlab/internal/fates"
)

// record is of what nvcc takes long for. The simulator is faster.
var record = &fates.Tests{Package: "flashlab/device/corpus"}

func TestMain(m *testing.M) { os.Exit(record.Main(m)) }
