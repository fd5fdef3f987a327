package ops

import (
	"fmt"

	"flashlab/grader/wire"
)

// count is how often layers made a call in passes of one kind.
func (p passes) count(pass, call string) uint64 { return p.calls[wire.CallName(pass, call)] }

// any is the same over all kinds of passes.
func (p passes) any(call string) uint64 {
	return p.count(wire.PromptPass, call) + p.count(wire.FirstPass, call) + p.count(wire.StepPass, call)
}

// never names what every layer has to call, and none did.
func (p passes) never() []string {
	if p.any(wire.CallForward) == 0 {
		return nil
	}
	for _, c := range []struct{ call, says string }{
		{wire.CallQKV, "QKV is never called: it makes q, k and v of x"},
		{wire.CallOut, "Out is never called: it makes the layer's output of the attention's"},
	} {
		if p.any(c.call) == 0 {
			return []string{c.says}
		}
	}
	return nil
}

// ownWay says that a layer leaves the kernels that it is given aside.
func (p passes) ownWay() string {
	prompts, steps := p.count(wire.PromptPass, wire.CallForward), p.count(wire.StepPass, wire.CallForward)
	used := func(pass string) bool {
		return p.count(pass, wire.CallPrefill)+p.count(pass, wire.CallDecode) > 0
	}
	if (prompts > 0 && !used(wire.PromptPass)) || (steps > 0 && !used(wire.StepPass)) {
		return "not by the kernels that New is given: attention is to be k.Prefill's and k.Decode's"
	}
	return ""
}

// wrongCalls are calls that were not as they have to be: the likely cause of
// wrong values.
func (p passes) wrongCalls() []string {
	var says []string
	add := func(is bool, text string, args ...any) {
		if is {
			says = append(says, fmt.Sprintf(text, args...))
		}
	}
	lacks := func(pass string) bool {
		return p.count(pass, wire.CallForward) > 0 && p.count(pass, wire.CallUpdate) == 0
	}
	add(lacks(wire.PromptPass) || lacks(wire.FirstPass), "the cache is not updated in the prompt: its keys and values are needed by every later step")
	add(lacks(wire.StepPass), "the cache is not updated in a decoding step: the new token's key and value belong there before Decode")
	add(p.any(wire.LateUpdate) > 0, "Decode came before Update: is the cache updated before it is read?")
	add(p.any(wire.WrongSlots) > 0, "Update was given other slots than s.Before: the first new token of a sequence has as many before it")
	add(p.any(wire.WrongCount) > 0, "Update was given another count than s.Count")
	add(p.any(wire.WrongKeys) > 0, "Decode was given other lengths than s.After: the new token sees itself, too")
	add(p.any(wire.OtherCache) > 0, "Update or Decode was given another cache than New was: another layer's? Each layer has its own")
	return says
}

// misused says which kernel was used where the other belongs.
func (p passes) misused() []string {
	var says []string
	if n := p.count(wire.StepPass, wire.CallPrefill); n > 0 {
		says = append(says, fmt.Sprintf("the prefill kernel is used for decoding, %d times: with one new token, Decode reads the cache as it lies", n))
	}
	if n := p.count(wire.PromptPass, wire.CallDecode); n > 0 {
		says = append(says, fmt.Sprintf("the decoding kernel is used for a prompt, %d times: Prefill.Run takes all of its tokens at once", n))
	}
	return says
}
