package quantized

// Read is how many bytes a step reads, after which every sequence has so many tokens, its new one
// among them. About 20 lines.
func Read(c Config, w Way, tokens int) Reads {
	return Reads{}
}

// Sheets are your predictions, one for each of Workloads. Fill them in before you run anything: README.md
// says how.
var Sheets = [len(Workloads)]Sheet{}
