package nn

import (
	"fmt"
)

// Embed writes the row of the table for each token: out [rows, width] of table
// [vocabulary, width]. A token that is not in the table gives NaN.
func (l *Layers) Embed(out Floats, tokens Ints, table Floats, rows, width int) error {
	what := func() string { return fmt.Sprintf("embedding of %d tokens, width %d", rows, width) }
	if err := check(what, []int{rows, width}, of("out", out, rows*width), of("tokens", tokens, rows)); err != nil {
		return err
	}
	vocabulary, err := tableRows(what, "table", table, width)
	if err != nil {
		return err
	}
	return l.each("embed", rows*width, out, tokens, table, rows, width, vocabulary)
}

// EmbedPositions adds learned positions, as GPT-2 has them: out [batch, count,
// width] is the table's row of each token and the positions' row before[b] + i.
// What is not in its table gives NaN.
func (l *Layers) EmbedPositions(out Floats, tokens Ints, table, positions Floats, before Ints, batch, count, width int) error {
	what := func() string { return fmt.Sprintf("embedding of %d × %d tokens, width %d", batch, count, width) }
	rows := batch * count
	if err := check(what, []int{batch, count, width}, of("out", out, rows*width), of("tokens", tokens, rows),
		of("before", before, batch)); err != nil {
		return err
	}
	vocabulary, err := tableRows(what, "table", table, width)
	if err != nil {
		return err
	}
	longest, err := tableRows(what, "positions", positions, width)
	if err != nil {
		return err
	}
	return l.each("embed_positions", rows*width, out, tokens, table, positions, before, batch, count, width, vocabulary, longest)
}

// Advance adds the same number to all counts, so that a recorded step moves on by
// itself.
func (l *Layers) Advance(counts Ints, by int) error {
	what := func() string { return fmt.Sprintf("advance %q", counts.Name()) }
	if err := check(what, []int{counts.Len()}); err != nil {
		return err
	}
	return l.each("advance", counts.Len(), counts, counts.Len(), by)
}

// GoOn ends a pass over so many tokens of a single text. The token that was picked is the first of tokens; it is kept at its position
// there as well, where no later pass writes. before and after move on to where the next pass begins and ends.
func (l *Layers) GoOn(before, after, tokens Ints, by int) error {
	what := func() string { return fmt.Sprintf("go on with %q", tokens.Name()) }
	if err := check(what, []int{tokens.Len()}, of("before", before, 1), of("after", after, 1)); err != nil {
		return err
	}
	return l.launch("go_on", 1, 1, before, after, tokens, by, tokens.Len())
}

// tableRows is how many rows of a width a table has.
func tableRows(what func() string, name string, table Floats, width int) (int, error) {
	if n := table.Len(); n == 0 || n%width != 0 {
		return 0, fmt.Errorf("%s: %s holds %d elements, want a whole number of rows", what(), name, n)
	}
	return table.Len() / width, nil
}
