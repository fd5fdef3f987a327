package command

import "flag"

// Passed is a flag that another program reads: what is given goes on to it as it is.
type Passed struct {
	Name  string
	To    *[]string // the program's arguments
	On    bool      // it takes no value
	Blank bool      // it may be given as nothing
}

// Pass adds a flag that goes on to another program.
func Pass(f *flag.FlagSet, to *[]string, name, usage string) {
	f.Var(&Passed{Name: name, To: to}, name, usage)
}

func (p *Passed) String() string   { return "" }
func (p *Passed) IsBoolFlag() bool { return p.On }
func (p *Passed) MayBeEmpty() bool { return p.Blank }

func (p *Passed) Set(value string) error {
	*p.To = append(*p.To, "-"+p.Name+"="+value)
	return nil
}
