package main

import (
	"fmt"
	"html"
	"strings"
)

// style has each class in light and in dark. The background is the picture's own, because a page's
// theme and the system's, which decides here, may differ.
const style = `<style>
text{font:13px Helvetica,Arial,sans-serif;fill:#1d2b45}
.small{font-size:11px}.title{font-weight:bold}.middle{text-anchor:middle}
.page{fill:#fff}.plain{fill:#eef1f5;stroke:#8a94a6}.good{fill:#9fd3b4;stroke:#2f7d52}
.part{fill:#f6d98b;stroke:#9a7412}.bad{fill:#f2a497;stroke:#a83a28}.line{stroke:#55606f;fill:none}
@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.page{fill:#161b22}.plain{fill:#262d38;stroke:#76839a}
.good{fill:#1f6b45;stroke:#7fd3a3}.part{fill:#7a5b10;stroke:#e8c565}.bad{fill:#8a2f22;stroke:#f2a497}.line{stroke:#9aa5b5}}
</style>
`

// canvas is a picture of so many points, in the making.
type canvas struct {
	body          strings.Builder
	width, height int
	alt           string // the picture in words
}

func (c *canvas) text(x, y int, class, format string, args ...any) {
	fmt.Fprintf(&c.body, `<text x="%d" y="%d" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(fmt.Sprintf(format, args...)))
}

func (c *canvas) box(x, y, width, height int, class string) {
	fmt.Fprintf(&c.body, `<rect x="%d" y="%d" width="%d" height="%d" class="%s"/>`+"\n", x, y, width, height, class)
}

func (c *canvas) line(x1, y1, x2, y2 int) {
	fmt.Fprintf(&c.body, `<path d="M%d %dL%d %d" class="line"/>`+"\n", x1, y1, x2, y2)
}

// String is the whole file.
func (c *canvas) String() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n<title>%s</title>\n%s",
		c.width, c.height, c.width, c.height, html.EscapeString(c.alt), style) +
		fmt.Sprintf(`<rect width="%d" height="%d" class="page"/>`+"\n", c.width, c.height) + c.body.String() + "</svg>\n"
}
