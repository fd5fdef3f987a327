package price

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/llama3"
)

// TestPairedErrorByHand: three windows, whose differences from halves are 0.1, 0.2 and 0.3. Their mean is 0.2, their
// deviation 0.1, and the standard error 0.1/√3, however far the windows are apart.
func TestPairedErrorByHand(t *testing.T) {
	base, other := []float64{1, 2, 3}, []float64{1.1, 2.2, 3.3}
	d := Change(other, base)
	p := math.Exp(2)
	assert.InDelta(t, p*(math.Exp(0.2)-1), d.Mean, 1e-12)
	assert.InDelta(t, p*math.Exp(0.2)*0.1/math.Sqrt(3), d.Error, 1e-12)
	unpaired := Perplexity(base)
	assert.InDelta(t, p, unpaired.Mean, 1e-12)
	assert.InDelta(t, p/math.Sqrt(3), unpaired.Error, 1e-12)
	assert.True(t, math.IsNaN(Change(other[:1], base[:1]).Error), "one window has no spread")
	same := Change([]float64{1.5, 2.5, 3.5}, base)
	assert.InDelta(t, 0, same.Error, 1e-12, "what is the same for all windows is certain")
}

// TestIntervalByHand is Newcombe's example (1998, table I): 15 of 148.
func TestIntervalByHand(t *testing.T) {
	low, high := interval(15, 148)
	assert.InDelta(t, 0.0624, low, 5e-5)
	assert.InDelta(t, 0.1605, high, 5e-5)
	low, high = interval(0, 0)
	assert.Equal(t, []float64{0, 1}, []float64{low, high})
}

// tiny has sides at which blocks of every format end short, and texts longer than a group of KIVI's.
func tiny(t *testing.T, begin int32) (llama3.Weights, Work) {
	w, err := llama3.Random(llama3.Config{Width: 48, Heads: 6, KVHeads: 2, Dim: 8, Layers: 2, Inner: 80, Positions: 128, Vocabulary: 50257,
		Epsilon: 1e-5, Rotary: 10000, Tied: true, Begin: begin}, 1)
	require.NoError(t, err)
	k, err := bpe.GPT2()
	require.NoError(t, err)
	all := Pieces(k, []string{strings.Repeat("one two three four. ", 60), strings.Repeat("five six, seven! ", 80)}, 40, begin)
	require.Greater(t, len(all), 6)
	return w, Work{Windows: all[:2], Shown: all[2:6], Begin: begin, Questions: []Question{{"What?\nA. a\nB. b\nC. c\nD. d\nAnswer:", 2}}}
}

func measured(t *testing.T, begin int32, formats []Format) List {
	w, work := tiny(t, begin)
	k, err := bpe.GPT2()
	require.NoError(t, err)
	l := List{Model: w.Config().String(), Weights: w.About(), Text: "a few words", Length: 40, Shown: 4, Begun: begin >= 0, Windows: 2, Asked: 1}
	l.Rows, err = Measure(w, k, formats, work, func(Row) {})
	require.NoError(t, err)
	require.Len(t, l.Rows, len(formats))
	return l
}

// TestEveryFormatHasARow: each is measured, costs what it should in memory, and is another model than halves.
func TestEveryFormatHasARow(t *testing.T) {
	l := measured(t, 5, Formats)
	bytes := map[string]int{}
	for _, r := range l.Rows {
		require.Empty(t, r.Failed, r.Name)
		assert.Len(t, r.Surprises, 2, r.Name)
		assert.Equal(t, 1, r.Asked)
		bytes[r.Name] = r.Bytes
		if r.Name != "halves" {
			assert.NotEqual(t, l.Rows[0].Surprises, r.Surprises, r.Name)
			assert.Equal(t, 2*39, r.Of, r.Name)
			assert.Greater(t, r.Same, 0, r.Name)
		}
	}
	// 32 numbers of keys in 4 heads of 2 layers, and as many of values. KIVI's keys have 2 halves for 32 tokens of a channel.
	for i, want := range []float64{128, 2 * (32 + 2*4), 2 * (16 + 4*4), 16 + 4*32/32 + 16 + 4*4} {
		assert.Equal(t, want, l.Rows[i].TokenBytes, l.Rows[i].Name)
	}
	assert.Equal(t, bytes["halves"], bytes["cache KIVI"])
	assert.Less(t, bytes["NF4, double"], bytes["NF4"])
	assert.Equal(t, bytes["INT4, zeros"], bytes["GPTQ, zeros"])

	page := l.Page()
	for _, f := range Formats {
		assert.Contains(t, page, "| "+f.Name+" | ")
	}
	assert.NotContains(t, page, "NaN")
	assert.Regexp(t, `GPTQ \S+ ± \S+ from INT4; GPTQ, zeros \S+ ± \S+ from INT4, zeros; GPTQ, zeros, no begin token \S+ ± \S+ from GPTQ, zeros\.`, page)
	assert.Len(t, l.Figure().Bars, len(Formats)-1)
}

// TestAFormatThatIsRefusedIsARow: it says why, and the others are measured.
func TestAFormatThatIsRefusedIsARow(t *testing.T) {
	l := measured(t, -1, []Format{Formats[0], {Name: "made up", Cache: "halves", Weights: "int3"}, {Name: "KIVI3", Cache: "kivi3"}, Formats[13], Formats[3]})
	assert.Contains(t, l.Rows[1].Failed, `there is no format "int3" of weights`)
	assert.Contains(t, l.Rows[2].Failed, `there is no cache "kivi3"`)
	assert.Contains(t, l.Rows[3].Failed, "no text begins with a token of its own here")
	assert.Empty(t, l.Rows[4].Failed)
	assert.Contains(t, l.Page(), `| made up | not measured: `)
	assert.NotContains(t, l.Page(), "What GPTQ changes", "it has no row")
	var b strings.Builder
	require.NoError(t, l.Table(&b))
	assert.Contains(t, b.String(), "made up: ")
	assert.Contains(t, b.String(), `there is no format "int3" of weights; there is int4, int4-zeros, mxfp4,`)
	assert.Len(t, l.Figure().Bars, 1)

	w, work := tiny(t, 5)
	work.Shown = nil
	k, err := bpe.GPT2()
	require.NoError(t, err)
	rows, err := Measure(w, k, Formats[11:12], work, func(Row) {})
	require.NoError(t, err)
	assert.Contains(t, rows[0].Failed, "no piece is left for GPTQ")
}

func TestPiecesTakeTurns(t *testing.T) {
	k, err := bpe.GPT2()
	require.NoError(t, err)
	all := Pieces(k, []string{" a a a a a", " b", " c c c"}, 3, 7)
	text := ""
	for _, p := range all {
		assert.Len(t, p, 3)
		assert.Equal(t, int32(7), p[0])
		for _, token := range p[1:] {
			text += string(k.Bytes(token))
		}
	}
	assert.Equal(t, " a a c c a a", text)

	// A tokenizer that puts the token before each text by itself, as Llama 3's does, does not put a second one there.
	begins, err := bpe.LoadJSON(os.DirFS("../../../nn/gpt2/bpe/testdata/llama"))
	require.NoError(t, err)
	first := begins.Encode("a")[0]
	require.NotEqual(t, begins.Plain("a")[0], first)
	all = Pieces(begins, []string{"a a a a a a"}, 3, first)
	require.NotEmpty(t, all)
	assert.Equal(t, first, all[0][0])
	assert.NotEqual(t, first, all[0][1])
}

func TestQuestionsAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mmlu.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"sums": "The following …\n\nQ: A longer question?\n(A) 1\n(B) 2 (C) 3\n(D) 4\nA: Let's think step by step. So. The answer is (D).\n\nQ: One?\n(A) 1 (B) 2 (C) 3 (D) 4\nA: Let's think step by step. Yes. The answer is (A).\n\n"}`), 0o644))
	all, err := Questions(file)
	require.NoError(t, err)
	assert.Equal(t, []Question{{"One?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:", 0}, {"A longer question?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:", 3}}, all)
}

// TestThePageIsWhatWasMeasured: docs/formats.md is made of docs/formats.json.
func TestThePageIsWhatWasMeasured(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(root, "docs", "formats.json"))
	if os.IsNotExist(err) {
		t.Skip("nothing has been measured yet")
	}
	require.NoError(t, err)
	l, err := ReadList(data)
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "formats.md"))
	require.NoError(t, err)
	assert.Equal(t, l.Page(), string(page), "make price PAGE=1 FROM=docs/formats.json writes it")
	for i, r := range l.Rows {
		assert.Equal(t, Formats[i].Name, r.Name)
	}
}

// TestARunThatWasStopped: what it did not come to are rows that say so.
func TestARunThatWasStopped(t *testing.T) {
	l, err := ReadList([]byte(`{"Rows": [{"Name": "halves", "Surprises": [1, 2]}]}`))
	require.NoError(t, err)
	require.Len(t, l.Rows, len(Formats))
	assert.Empty(t, l.Rows[0].Failed)
	assert.Equal(t, Row{Name: "cache INT8", Failed: "the run was stopped before"}, l.Rows[1])
	_, err = ReadList([]byte("{"))
	assert.ErrorContains(t, err, "the price list: ")
}

// TestARunIsResumed: rows of the same texts are taken as they are, but for those that failed; those of others are refused.
func TestARunIsResumed(t *testing.T) {
	w, work := tiny(t, 5)
	k, err := bpe.GPT2()
	require.NoError(t, err)
	l := measured(t, 5, Formats[:3])
	l.Rows[2] = Row{Name: l.Rows[2].Name, Failed: "the run was stopped before"}
	l.Rows[1].Seconds = 12345 // as nothing takes that is measured here
	file := filepath.Join(t.TempDir(), "price.json")
	require.NoError(t, l.Write(file))
	work.Known, err = l.Known(file)
	require.NoError(t, err)
	rows, err := Measure(w, k, Formats[:3], work, func(Row) {})
	require.NoError(t, err)
	assert.EqualValues(t, 12345, rows[1].Seconds, "taken as it is")
	assert.Empty(t, rows[2].Failed)
	assert.Positive(t, rows[2].Same, "the first format is measured again, so that others can be compared with it")
	other := l
	other.Shown++
	_, err = other.Known(file)
	assert.ErrorContains(t, err, "is of another model, on other texts: leave RESUME out")
	_, err = l.Known(filepath.Join(t.TempDir(), "none.json"))
	assert.ErrorContains(t, err, "RESUME: there is no earlier run")
}

// TestHandoutsQuoteTheList: their rows are those of docs/formats.json, in each of the handouts that ask to predict them.
func TestHandoutsQuoteTheList(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(root, "docs", "formats.json"))
	require.NoError(t, err)
	l, err := ReadList(data)
	require.NoError(t, err)
	pages, err := filepath.Glob(filepath.Join(root, "bonus", "*", "README.md"))
	require.NoError(t, err)
	quoting := 0
	for _, name := range pages {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, strings.Contains(string(page), "Predict first: ") && strings.Contains(string(page), "make price"), Quotes(string(page)), name)
		if Quotes(string(page)) {
			quoting++
		}
		now, err := l.Quote(string(page))
		require.NoError(t, err, name)
		assert.Equal(t, now, string(page), "%s: make price PAGE=1 FROM=docs/formats.json writes it", name)
	}
	assert.Equal(t, 4, quoting, "b5, b7, b8 and b9")

	page := "<!-- formats: NF4 -->\n\n| old |\n\nmore"
	now, err := l.Quote(page)
	require.NoError(t, err)
	assert.Regexp(t, "^<!-- formats: NF4 -->\n\n\\| format .*\n\\| --- .*\n\\| NF4 .*\n\nmore$", now)
	_, err = l.Quote("<!-- formats: NF5 -->\n| old |")
	assert.EqualError(t, err, `line 1: the price list has no "NF5"`)
	_, err = l.Quote("<!-- formats: NF4 -->\nnothing")
	assert.EqualError(t, err, "line 1: no table follows")
}
