package main

const (
	lanes       = 32 // of a warp
	bankCount   = 32
	sectorWords = 8 // 32 bytes
)

// bankOf is the bank of an element of an array of float rows of this width.
func bankOf(row, column, width int) int { return (row*width + column) % bankCount }

// passes is how often shared memory is gone through when lane i reads element (i, 0): as often as
// the fullest bank is wanted.
func passes(width int) int {
	var wanted [bankCount]int
	most := 0
	for row := range lanes {
		bank := bankOf(row, 0, width)
		wanted[bank]++
		most = max(most, wanted[bank])
	}
	return most
}

// banks shows a column of 32 floats in rows 32 and 33 wide.
func banks() string {
	const cell, top = 10, 62
	c := &canvas{width: 760, height: 420, alt: "A warp reads a column: in rows of 32 floats all lanes meet in bank 0, in rows of 33 each has a bank of its own"}
	for side, width := range []int{32, 33} {
		x := 24 + side*370
		class := "good"
		if passes(width) > 1 {
			class = "bad"
		}
		c.text(x, 24, "title", "float tile[32][%d]", width)
		c.text(x, 44, "small", "lane i reads tile[i][0]; across: banks 0 to 31, down: lanes")
		c.box(x, top, bankCount*cell, lanes*cell, "plain")
		for i := range bankCount {
			c.line(x+i*cell, top, x+i*cell, top+lanes*cell)
			c.line(x, top+i*cell, x+bankCount*cell, top+i*cell)
		}
		for row := range lanes {
			c.box(x+bankOf(row, 0, width)*cell, top+row*cell, cell, cell, class)
		}
		word := "passes"
		if passes(width) == 1 {
			word = "pass"
		}
		c.text(x, top+lanes*cell+24, "", "%d %s through the banks", passes(width), word)
	}
	return c.String()
}

// sectorsOf is how many sectors a warp's floats are in, from an aligned address on, so many floats apart.
func sectorsOf(stride int) int {
	touched := map[int]bool{}
	for lane := range lanes {
		touched[lane*stride/sectorWords] = true
	}
	return len(touched)
}

// sectors shows which sectors eight of a warp's lanes need, at two strides.
func sectors() string {
	const shown, cell, box = 8, 10, 8 * 10
	c := &canvas{width: 760, height: 290, alt: "Eight lanes that read neighbouring floats share one sector of 32 bytes; eight floats apart, each lane needs a sector of its own"}
	for k, one := range []struct {
		stride int
		title  string
		class  string
	}{{1, "Neighbours: lane i reads x[i]", "good"}, {sectorWords, "Apart: lane i reads x[8 * i]", "bad"}} {
		y := 24 + k*136
		c.text(24, y, "title", "%s", one.title)
		for lane := range shown {
			// The lane's place, and under it the sectors, a gap between any two.
			x := 60 + lane*86
			word := lane * one.stride
			to := 24 + word/sectorWords*(box+8) + word%sectorWords*cell + cell/2
			c.text(x, y+24, "small middle", "lane %d", lane)
			c.line(x, y+28, to, y+58)
		}
		for sector := range shown {
			for word := range sectorWords {
				kind := "plain"
				if at := sector*sectorWords + word; at%one.stride == 0 && at/one.stride < shown {
					kind = one.class
				}
				c.box(24+sector*(box+8)+word*cell, y+58, cell, 16, kind)
			}
		}
		c.text(24, y+94, "", "the warp's %d lanes need %d sectors: %d bytes moved for %d asked for",
			lanes, sectorsOf(one.stride), sectorsOf(one.stride)*sectorWords*4, lanes*4)
	}
	return c.String()
}
