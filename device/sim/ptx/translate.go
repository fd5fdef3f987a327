package ptx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// constraints are the registers of C++ by the letter of a constraint.
var constraints = map[byte]string{'r': "unsigned", 'l': "unsigned long long", 'h': "unsigned short", 'f': "float", 'd': "double"}

// held gives the type that holds a declared type of PTX here.
var held = map[string]string{
	"pred": "bool", "b8": "unsigned char", "u8": "unsigned char", "s8": "unsigned char",
	"b16": "unsigned short", "u16": "unsigned short", "s16": "unsigned short", "f16": "unsigned short", "bf16": "unsigned short",
	"b32": "unsigned", "u32": "unsigned", "s32": "unsigned", "f16x2": "unsigned", "bf16x2": "unsigned",
	"b64": "unsigned long long", "u64": "unsigned long long", "s64": "unsigned long long", "f32": "float", "f64": "double",
}

// scope is what the names of one asm statement mean.
type scope struct {
	names  []map[string]string // PTX register → C++ variable, innermost last
	places map[string]string   // operands that are sums of wgmma → C++ pointer
	labels map[string]string   // of PTX → of C++
	made   int
	// carried tells whether an instruction has set the carry flag (carry.go).
	carried bool
	out     strings.Builder
}

func (s statement) translate(id int) (string, error) {
	text := plain(s.text, id)
	c := &scope{names: []map[string]string{{}}, places: map[string]string{}, labels: map[string]string{}}
	for _, m := range labels.FindAllStringSubmatch(text, -1) {
		c.labels[m[1]] = fmt.Sprintf("simt_L%d_%s", id, strings.ReplaceAll(m[1], "$", "_"))
	}
	sums := sumOperands(text)
	var after strings.Builder
	c.out.WriteString("do { ")
	if setsCarry.MatchString(text) {
		c.out.WriteString("bool simt_cc = false; ")
	}
	for i, o := range s.operands {
		letter := strings.TrimLeft(o.constraint, "=+&%")
		if letter == "" {
			return "", fmt.Errorf("asm: the constraint %q names no kind of register", o.constraint)
		}
		name := fmt.Sprintf("simt_p%d", i)
		if n, err := strconv.Atoi(letter); err == nil { // the register of an output
			if n >= s.outputs {
				return "", fmt.Errorf("asm: the constraint %q names no output", o.constraint)
			}
			fmt.Fprintf(&c.out, "simt::ptx::in(simt_p%d, %s); ", n, o.expr)
			c.names[0]["%"+strconv.Itoa(i)] = fmt.Sprintf("simt_p%d", n)
			continue
		}
		if number, byName := "%"+strconv.Itoa(i), "%["+o.name+"]"; sums[number] || sums[byName] {
			if i >= s.outputs {
				return "", fmt.Errorf("asm: a sum of wgmma has to be an output, such as \"+f\"(d[0])")
			}
			fmt.Fprintf(&c.out, "unsigned *%s = simt::ptx::place(%s); ", name, o.expr)
			c.places[number], c.places[byName] = name, name
			continue
		}
		if letter == "n" || letter == "i" {
			fmt.Fprintf(&c.out, "const long long %s = (long long)(%s); ", name, o.expr)
		} else {
			t, ok := constraints[letter[0]]
			if !ok {
				return "", fmt.Errorf("asm: the simulator has no operands of constraint %q: use r, l, h, f, d or n", o.constraint)
			}
			fmt.Fprintf(&c.out, "%s %s; ", t, name)
			if i >= s.outputs || strings.Contains(o.constraint, "+") {
				fmt.Fprintf(&c.out, "simt::ptx::in(%s, %s); ", name, o.expr)
			}
		}
		if i < s.outputs {
			fmt.Fprintf(&after, "simt::ptx::out(%s, %s); ", o.expr, name)
		}
		c.names[0]["%"+strconv.Itoa(i)] = name
		if o.name != "" {
			c.names[0]["%["+o.name+"]"] = name
		}
	}
	if err := c.statements(text); err != nil {
		return "", err
	}
	return c.out.String() + after.String() + "} while (0)", nil
}

var comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)

// plain takes comments out of PTX, and the two-sign escapes.
func plain(text string, id int) string {
	text = comments.ReplaceAllString(text, " ")
	text = strings.ReplaceAll(text, "%=", strconv.Itoa(id))
	return strings.NewReplacer("%{", "{", "%}", "}", "%|", "|").Replace(text)
}

func (c *scope) statements(text string) error {
	for {
		text = strings.TrimLeft(text, " \t\n;")
		switch {
		case text == "":
			if len(c.names) > 1 {
				return fmt.Errorf("inline PTX: a brace is not closed")
			}
			return nil
		case text[0] == '{':
			c.names = append(c.names, map[string]string{})
			c.out.WriteString("{ ")
			text = text[1:]
			continue
		case text[0] == '}':
			if len(c.names) == 1 {
				return fmt.Errorf("inline PTX: a brace closes nothing")
			}
			c.names = c.names[:len(c.names)-1]
			c.out.WriteString("} ")
			text = text[1:]
			continue
		}
		if m := label.FindStringSubmatch(text); m != nil {
			c.out.WriteString(c.labels[m[1]] + ": ; ")
			text = text[strings.IndexByte(text, ':')+1:]
			continue
		}
		end := strings.IndexByte(text, ';')
		if end < 0 {
			return fmt.Errorf("inline PTX: no ; behind '%s'", short(text))
		}
		if err := c.statement(strings.TrimSpace(text[:end])); err != nil {
			return err
		}
		text = text[end+1:]
	}
}

var (
	declaration = regexp.MustCompile(`^\.reg\s*(?:\.v[24]\s*)?\.(\w+)\s+(.*)$`)
	declared    = regexp.MustCompile(`^(%{0,2}[\w$]+)(?:<(\d+)>)?$`)
	instruction = regexp.MustCompile(`^(?:@(!?)\s*(%?%?[\w$]+)\s+)?([a-z][\w.:]*)\s*(.*)$`)
)

func (c *scope) statement(text string) error {
	text = strings.Join(strings.Fields(text), " ")
	if m := declaration.FindStringSubmatch(text); m != nil {
		t, ok := held[m[1]]
		if !ok {
			return fmt.Errorf("inline PTX: the simulator has no registers of type .%s", m[1])
		}
		for _, name := range strings.Split(m[2], ",") {
			d := declared.FindStringSubmatch(strings.TrimSpace(name))
			if d == nil {
				return fmt.Errorf("inline PTX: '%s' declares no register", short(text))
			}
			if d[2] == "" {
				c.declare(t, d[1])
				continue
			}
			n, _ := strconv.Atoi(d[2])
			for i := range min(n, 256) {
				c.declare(t, d[1]+strconv.Itoa(i))
			}
		}
		return nil
	}
	m := instruction.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("inline PTX: '%s' is not understood", short(text))
	}
	i := &inst{scope: c, op: m[3]}
	i.parts = strings.Split(i.op, ".")
	for _, part := range split(m[4], 0, len(m[4]), ',') {
		if a := strings.TrimSpace(m[4][part[0]:part[1]]); a != "" {
			i.args = append(i.args, a)
		}
	}
	code, err := i.translate()
	if err != nil {
		return err
	}
	if m[2] != "" {
		p, err := c.value(m[2])
		if err != nil {
			return err
		}
		c.out.WriteString("if (" + m[1] + "(bool)" + p + ") ")
	}
	c.out.WriteString("{ " + code + " } ")
	return nil
}

func (c *scope) declare(t, name string) {
	c.made++
	variable := fmt.Sprintf("simt_q%d", c.made)
	c.names[len(c.names)-1][strings.TrimLeft(name, "%")] = variable
	fmt.Fprintf(&c.out, "%s %s; ", t, variable)
}

// special registers.
var special = map[string]string{
	"laneid": "simt_lane()", "warpid": "simt::ptx::warp()", "nwarpid": "simt::ptx::warps()", "smid": "0u", "nsmid": "1u",
	"clock": "(unsigned)simt_clock()", "clock64": "(unsigned long long)simt_clock()", "globaltimer": "(unsigned long long)simt_clock()",
	"lanemask_eq": "(1u << simt_lane())", "lanemask_lt": "((1u << simt_lane()) - 1)", "lanemask_le": "((2u << simt_lane()) - 1)",
	"lanemask_gt": "(-2u << simt_lane())", "lanemask_ge": "(-1u << simt_lane())",
}

func init() {
	for name, value := range map[string]string{"cluster_ctarank": "simt_cluster(12)", "cluster_nctarank": "simt_cluster(13)", "is_explicit_cluster": "(bool)simt_cluster(14)"} {
		special[name] = value
	}
	for i, axis := range []string{"x", "y", "z"} {
		for k, name := range []string{"cluster_ctaid.", "cluster_nctaid.", "clusterid.", "nclusterid."} {
			special[name+axis] = fmt.Sprintf("simt_cluster(%d)", 3*k+i)
		}
	}
	for _, name := range []string{"tid", "ntid", "ctaid", "nctaid"} {
		for _, axis := range []string{"x", "y", "z"} {
			special[name+"."+axis] = "simt::ptx::" + name + "()." + axis
		}
	}
}

var floatBits = regexp.MustCompile(`^0([fFdD])([0-9a-fA-F]+)$`)
var integer = regexp.MustCompile(`^-?(?:0[xX][0-9a-fA-F]+|\d+)U?$`)
var arithmeticOnly = regexp.MustCompile(`^\(*\s*(?:0[xX][0-9a-fA-F]+|\d+)[\s()|&^~<>+*0-9a-fA-FxX-]*$`)
var decimal = regexp.MustCompile(`^-?\d+\.\d*(?:[eE][-+]?\d+)?$`)

// value is the C++ for a register or a number.
func (c *scope) value(name string) (string, error) {
	name = strings.TrimSpace(name)
	if m := floatBits.FindStringSubmatch(name); m != nil {
		if strings.EqualFold(m[1], "f") {
			return "simt::bits<float>(0x" + m[2] + "u)", nil
		}
		return "simt::bits<double>(0x" + m[2] + "ull)", nil
	}
	if integer.MatchString(name) {
		return "(long long)" + strings.TrimSuffix(name, "U"), nil
	}
	if arithmeticOnly.MatchString(name) {
		return "(long long)(" + name + ")", nil
	}
	if decimal.MatchString(name) {
		return name, nil
	}
	if c.places[name] != "" {
		return "", fmt.Errorf("inline PTX: %s is a sum of wgmma: in the same asm nothing else can use it", name)
	}
	for i := len(c.names) - 1; i >= 0; i-- {
		for _, key := range []string{name, strings.TrimLeft(name, "%")} {
			if v, ok := c.names[i][key]; ok && (key != strings.TrimLeft(name, "%") || !regexp.MustCompile(`^\d`).MatchString(key)) {
				return v, nil
			}
		}
	}
	if v, ok := special[strings.TrimLeft(name, "%")]; ok {
		return v, nil
	}
	if strings.HasPrefix(name, "%") {
		return "", lacking("register "+name, "use CUDA's own variables")
	}
	return "", fmt.Errorf("inline PTX: %s is no register of this asm, and no number", short(name))
}

func short(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

// lacking names what the simulator does not have, and what to use.
func lacking(what, instead string) error {
	return fmt.Errorf("the simulator has no PTX %s: %s, or keep it from the simulator with #ifndef FLASHLAB_SIM", what, instead)
}
