package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flashlab/device/trace"
)

// banked is a request for shared memory as a grid: a column for each bank, and a row for each 128
// bytes of the array that the request touches.
type banked struct {
	ID, Line string // where it was
	Does     string // "reads tile[32][32]"
	Who      string // "warp 3 of block 17"
	Says     string
	Passes   int
	Bad      bool
	Rows     []string // what each row begins with
	Dots     []dot
	Padded   *banked // the same request where the rows of the array are a little longer
}

// dot is what one lane asks for, or several alike.
type dot struct {
	X, Y, Wide int // in banks and rows
	Text       string
	Title      string // "lanes 0 to 15: [3][0]"
	Bad        bool   // another word of its bank is asked for
}

const (
	banks        = 32
	mostBanked   = 3  // requests that a kernel's page has
	longestBank  = 64 // rows of a grid
	bankWord     = 4  // bytes
	paddedBeyond = 16 // words: neighbouring lanes as far apart as that walk down rows
)

// bankedOf picks the lines with most passes that others would spare, or else one that does well.
func (k kernel) bankedOf(s *trace.Samples, lines map[place]*work) (all []banked) {
	worst := map[place]trace.BankRequest{}
	for _, r := range s.Banks {
		if at := (place{r.File, r.Line}); r.Passes > worst[at].Passes && r.Line > 0 {
			worst[at] = r
		}
	}
	var order []place
	for at := range worst {
		if lines[at] != nil {
			order = append(order, at)
		}
	}
	slices.SortFunc(order, func(a, b place) int {
		x, y := lines[a], lines[b]
		return cmp.Or(cmp.Compare(y.passes-y.once, x.passes-x.once), cmp.Compare(distinct(worst[b]), distinct(worst[a])), cmp.Compare(y.shared, x.shared),
			cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	for i, at := range order {
		if i == mostBanked || i > 0 && lines[at].passes == lines[at].once {
			break
		}
		r := worst[at]
		one := gridOf(r, arrayName(r, 0))
		one.ID, one.Line = k.id(at), fmt.Sprintf("%s:%d", at.file, at.line)
		one.Who = fmt.Sprintf("warp %d of block %s", r.Warp, count(uint64(r.Block)))
		one.Padded = padded(r, one.Passes)
		all = append(all, one)
	}
	return all
}

// distinct is how many addresses the lanes of a request have.
func distinct(r trace.BankRequest) int {
	seen := map[int64]bool{}
	for _, at := range r.Lanes {
		seen[at] = true
	}
	return len(seen)
}

// arrayName is an array with its dimensions, the last so much larger.
func arrayName(r trace.BankRequest, more int) string {
	name := r.Array
	for i, n := range r.Dims {
		if i == len(r.Dims)-1 {
			n += more
		}
		name += fmt.Sprintf("[%d]", n)
	}
	return name
}

func gridOf(r trace.BankRequest, name string) banked {
	b := banked{Does: present(r.Op) + " " + name}
	var least int
	var worst []int
	b.Passes, least, worst = passesOf(r)
	b.Bad = b.Passes > least
	crowded := crowdedWords(r)
	var rows []int64
	lanes := map[int64][]int{} // by the first word
	for lane, at := range r.Lanes {
		if at < 0 {
			continue
		}
		word := at / bankWord
		lanes[word] = append(lanes[word], lane)
		if row := word / banks; !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	rows = rows[:min(len(rows), longestBank)]
	for _, row := range rows {
		b.Rows = append(b.Rows, element(r, row*banks*bankWord))
	}
	for word, who := range lanes {
		y := slices.Index(rows, word/banks)
		if y < 0 {
			continue
		}
		d := dot{X: int(word % banks), Y: y, Wide: max(1, r.Bytes/bankWord), Text: fmt.Sprint(who[0]), Bad: crowded[word]}
		d.Title = fmt.Sprintf("lane %d: %s", who[0], element(r, r.Lanes[who[0]]))
		if len(who) > 1 {
			d.Text = fmt.Sprintf("×%d", len(who))
			d.Title = fmt.Sprintf("lanes %s: %s", list(who), element(r, r.Lanes[who[0]]))
		}
		b.Dots = append(b.Dots, d)
	}
	slices.SortFunc(b.Dots, func(a, b dot) int { return cmp.Or(a.Y-b.Y, a.X-b.X) })
	if b.Says = plural(b.Passes, "pass"); b.Passes > 1 {
		b.Says = fmt.Sprintf("%d passes", b.Passes)
	}
	if b.Bad {
		b.Says += fmt.Sprintf(" where %d would do: lanes %s ask for different words of one bank", least, list(worst))
	} else if least > 1 {
		b.Says += fmt.Sprintf(", the fewest for accesses of %d bytes: no two lanes want different words of one bank at a time", r.Bytes)
	} else {
		b.Says += ": no two lanes want different words of one bank"
	}
	return b
}

// padded is the same request in an array whose rows are a word longer, or as much as one lane asks
// for, so that its addresses stay aligned; nil where that helps nobody.
func padded(r trace.BankRequest, passes int) *banked {
	row, name := int64(0), ""
	pad := int64(max(bankWord, r.Bytes))
	if n := len(r.Dims); n > 1 && r.Element > 0 {
		row = int64(r.Dims[n-1] * r.Element)
		name = arrayName(r, int(pad)/r.Element)
	} else if row = stepOf(r); row > 0 {
		name = fmt.Sprintf("%s in rows of %d words, not %d", r.Array, (row+pad)/bankWord, row/bankWord)
	}
	if row < paddedBeyond*bankWord {
		return nil
	}
	for lane, at := range r.Lanes {
		if at >= 0 {
			r.Lanes[lane] = at/row*(row+pad) + at%row
		}
	}
	r.Dims = slices.Clone(r.Dims)
	if n := len(r.Dims); n > 1 {
		r.Dims[n-1] += int(pad) / r.Element
	}
	if less, _, _ := passesOf(r); less >= passes {
		return nil
	}
	b := gridOf(r, name)
	return &b
}

// stepOf is how far apart neighbouring lanes are, all of them alike; else 0.
func stepOf(r trace.BankRequest) int64 {
	step := r.Lanes[1] - r.Lanes[0]
	for lane := 1; lane < 32; lane++ {
		if r.Lanes[lane] < 0 || r.Lanes[lane]-r.Lanes[lane-1] != step {
			return 0
		}
	}
	return max(step, 0)
}

// element names what is at an offset: [3][0], or 384 B where the shape is not known.
func element(r trace.BankRequest, at int64) string {
	if len(r.Dims) == 0 || r.Element == 0 {
		return fmt.Sprintf("%d B", at)
	}
	index, name := at/int64(r.Element), ""
	for i := len(r.Dims) - 1; i >= 0; i-- {
		n := int64(max(r.Dims[i], 1))
		if i == 0 {
			n = index + 1
		}
		name = fmt.Sprintf("[%d]", index%n) + name
		index /= n
	}
	return name
}

// list writes 0 to 31; 0, 8, 16, 24; 1, 3, 4, …, 31.
func list(lanes []int) string {
	n := len(lanes)
	if n > 2 && lanes[n-1]-lanes[0] == n-1 {
		return fmt.Sprintf("%d to %d", lanes[0], lanes[n-1])
	}
	var words []string
	for i, lane := range lanes {
		if n > 8 && i > 3 && i < n-1 {
			if i == 4 {
				words = append(words, "…")
			}
			continue
		}
		words = append(words, fmt.Sprint(lane))
	}
	if n == 2 {
		return words[0] + " and " + words[1]
	}
	return strings.Join(words, ", ")
}

func present(op string) string {
	switch op {
	case "read":
		return "reads"
	case "write":
		return "writes"
	}
	return "changes"
}

// Columns are where the lines of the grid are.
func (b banked) Columns() []int {
	all := make([]int, banks+1)
	for i := range all {
		all[i] = i
	}
	return all
}
