// Package asked says what may be asked of the program that measures task 6's model: the grader's command hands it on,
// and the program reads it.
package asked

import "flashlab/internal/usage"

// Flags are the program's, beside the device.
var Flags = usage.Flags{
	{Name: "size", Usage: "the `model`: tiny, small, medium, large or full; the largest that fits without it"},
	{Name: "tokens", Usage: "how `many` are timed"},
}
