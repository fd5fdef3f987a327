package registry

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Name is what a task is called: 5, or b2. In files a number stands as a number, as it always has.
type Name string

func (n Name) numeric() bool {
	_, err := strconv.ParseUint(string(n), 10, 31)
	return err == nil
}

// Bonus tells whether it is a bonus task's, such as b2: its points have a total of their own.
func (n Name) Bonus() bool { return !n.numeric() }

// WarmUp tells whether it is the warm-up's, which has no points: its checks are done or not.
func (n Name) WarmUp() bool { return n == "0" }

// MarshalJSON writes a number where the name is one.
func (n Name) MarshalJSON() ([]byte, error) {
	if n.numeric() {
		return []byte(n), nil
	}
	return json.Marshal(string(n))
}

// UnmarshalJSON reads either.
func (n *Name) UnmarshalJSON(data []byte) error {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	return n.read(v)
}

// UnmarshalTOML reads either: tasks = [1, 2, "b1"].
func (n *Name) UnmarshalTOML(v any) error { return n.read(v) }

func (n *Name) read(v any) error {
	switch v := v.(type) {
	case string:
		*n = Name(v)
	case int64:
		*n = Name(strconv.FormatInt(v, 10))
	case float64:
		*n = Name(strconv.FormatFloat(v, 'f', -1, 64))
	case nil:
	default:
		return fmt.Errorf("a task's name is a number or a text, not %v", v)
	}
	return nil
}
