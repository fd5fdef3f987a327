package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// What Gradescope documents for results.json, as rules: each key with what its value may be.
var (
	formats      = []string{"text", "html", "simple_format", "md", "ansi"}
	visibilities = []string{"hidden", "after_due_date", "after_published", "visible"}

	topRules = rules{
		"score": aNumber, "execution_time": aNumber, "output": aText, "output_format": oneOf(formats), "test_output_format": oneOf(formats), "test_name_format": oneOf(formats),
		"visibility": oneOf(visibilities), "stdout_visibility": oneOf(visibilities), "extra_data": anObject, "tests": aList, "leaderboard": aList,
	}
	testRules = rules{
		"score": aNumber, "max_score": aNumber, "status": oneOf([]string{"passed", "failed"}), "name": aText, "name_format": oneOf(formats), "number": aText,
		"output": aText, "output_format": oneOf(formats), "tags": aList, "visibility": oneOf(visibilities), "extra_data": anObject,
	}
	boardRules = rules{"name": aText, "value": anything, "order": oneOf([]string{"asc", "desc"})}
)

type rule func(v any) error
type rules map[string]rule

// CheckGradescope compares a results.json with the documented format: unknown keys, values of the wrong
// kind, and a missing score are mistakes that Gradescope shows to the student as a failed autograder.
func CheckGradescope(data []byte) error {
	var top map[string]any
	if err := json.Unmarshal(data, &top); err != nil {
		return fmt.Errorf("results.json: %w", err)
	}
	errs := []error{topRules.check("", top)}
	tests, _ := top["tests"].([]any)
	board, _ := top["leaderboard"].([]any)
	for i, one := range tests {
		errs = append(errs, testRules.check(fmt.Sprintf("tests[%d].", i), one))
	}
	for i, one := range board {
		errs = append(errs, boardRules.check(fmt.Sprintf("leaderboard[%d].", i), one))
	}
	if _, scored := top["score"]; !scored {
		if len(tests) == 0 {
			errs = append(errs, errors.New("there is neither a score nor a test"))
		}
		for i, one := range tests {
			if fields, ok := one.(map[string]any); ok && fields["score"] == nil {
				errs = append(errs, fmt.Errorf("tests[%d] has no score, nor has the whole", i))
			}
		}
	}
	return errors.Join(errs...)
}

func (r rules) check(where string, v any) error {
	fields, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: want an object", where)
	}
	var errs []error
	for key, value := range fields {
		rule, known := r[key]
		if !known {
			errs = append(errs, fmt.Errorf("%s%s: no such key is documented", where, key))
		} else if err := rule(value); err != nil {
			errs = append(errs, fmt.Errorf("%s%s: %w", where, key, err))
		}
	}
	return errors.Join(errs...)
}

func aNumber(v any) error {
	if x, ok := v.(float64); !ok || math.IsInf(x, 0) {
		return fmt.Errorf("want a number, not %v", v)
	}
	return nil
}

func aText(v any) error {
	if _, ok := v.(string); !ok {
		return fmt.Errorf("want a text, not %v", v)
	}
	return nil
}

func anObject(v any) error {
	if _, ok := v.(map[string]any); !ok {
		return fmt.Errorf("want an object, not %v", v)
	}
	return nil
}

func aList(v any) error {
	if _, ok := v.([]any); !ok {
		return fmt.Errorf("want a list, not %v", v)
	}
	return nil
}

func anything(any) error { return nil }

func oneOf(words []string) rule {
	return func(v any) error {
		if s, ok := v.(string); !ok || !slices.Contains(words, s) {
			return fmt.Errorf("want one of %q, not %v", words, v)
		}
		return nil
	}
}
