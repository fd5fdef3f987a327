package rooms

import "flashlab/grader/grading/replay"

// Every program that grades can be started anew to do a record again, apart from the grader.
func init() { replay.Serve(Ops) }
