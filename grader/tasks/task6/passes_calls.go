package task6

import (
	"fmt"

	"flashlab/grader/tasks/task6/sizes"
)

// count is how often layers made a call in passes of one kind.
func (p Passes) count(pass, call string) uint64 { return p.Calls[sizes.CallName(pass, call)] }

// any is the same over all kinds of passes.
func (p Passes) any(call string) uint64 {
	return p.count(sizes.PromptPass, call) + p.count(sizes.FirstPass, call) + p.count(sizes.StepPass, call)
}

// kinds of passes, as they are called in messages.
var kinds = []struct{ pass, name string }{
	{sizes.PromptPass, "a prompt"}, {sizes.FirstPass, "a prompt of one token"}, {sizes.StepPass, "a decoding step"},
}

// never names what every pass has to call, and none of a kind did.
func (p Passes) never() []string {
	var says []string
	for _, c := range []struct{ call, says string }{
		{sizes.CallQKV, "QKV is never called in %s: it makes q, k and v of x"},
		{sizes.CallOut, "Out is never called in %s: it makes the layer's output of the attention's"},
		{sizes.CallUpdate, "the cache is not updated in %s: every later step needs the new keys and values, and Decode in the same one"},
	} {
		for _, k := range kinds {
			if p.count(k.pass, sizes.CallForward) > 0 && p.count(k.pass, c.call) == 0 {
				says = append(says, fmt.Sprintf(c.says, k.name))
			}
		}
	}
	return says
}

// ownWay says that a layer leaves the kernels that it is given aside. Its values are wrong then: only what
// these return has the case's factors in it (package tint).
func (p Passes) ownWay() []string {
	own := p.any(sizes.CallForward) == 0
	for _, pass := range []string{sizes.PromptPass, sizes.FirstPass, sizes.StepPass} {
		used := p.count(pass, sizes.CallPrefill) + p.count(pass, sizes.CallDecode)
		own = own || (p.count(pass, sizes.CallForward) > 0 && used == 0)
	}
	if own {
		return []string{"attention is not by the kernels that New is given: it must be k.Prefill's and k.Decode's"}
	}
	return nil
}

// wrongCalls are calls that were not as they have to be: the likely cause of
// wrong values.
func (p Passes) wrongCalls() []string {
	var says []string
	add := func(is bool, text string) {
		if is {
			says = append(says, text)
		}
	}
	add(p.any(sizes.LateUpdate) > 0, "Decode came before Update: is the cache updated before it is read?")
	add(p.any(sizes.WrongSlots) > 0, "Update was given other slots than s.Before: the first new token of a sequence has as many before it")
	add(p.any(sizes.WrongCount) > 0, "Update was given another count than s.Count")
	add(p.any(sizes.WrongKeys) > 0, "Decode was given other lengths than s.After: the new token sees itself, too")
	add(p.any(sizes.OtherCache) > 0, "Update or Decode was given another cache than New was: another layer's? Each layer has its own")
	return says
}

// misused says which kernel was used where the other belongs.
func (p Passes) misused() []string {
	var says []string
	if n := p.count(sizes.StepPass, sizes.CallPrefill); n > 0 {
		says = append(says, fmt.Sprintf("the prefill kernel is used for decoding, %s: with one new token, Decode reads the cache as it lies", often(n)))
	}
	if n := p.count(sizes.PromptPass, sizes.CallDecode); n > 0 {
		says = append(says, fmt.Sprintf("the decoding kernel is used for a prompt, %s: Prefill.Run takes all of its tokens at once", often(n)))
	}
	return says
}

func often(n uint64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
