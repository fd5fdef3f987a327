package handin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
)

func TestReceiptTellsNamesFromContents(t *testing.T) {
	a := handin.Sum(map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	assert.Len(t, string(a), 64)
	assert.Regexp(t, `^[0-9a-f]{4} [0-9a-f]{4} [0-9a-f]{4}$`, a.Short())
	assert.Equal(t, a, handin.Sum(map[string][]byte{"b": []byte("2"), "a": []byte("1")}))
	assert.NotEqual(t, a, handin.Sum(map[string][]byte{"a": []byte("1b\x001\x002")}))
	assert.NotEqual(t, a, handin.Sum(map[string][]byte{"a": []byte("2"), "b": []byte("1")}))
	assert.NotEqual(t, a, handin.Sum(map[string][]byte{"a": []byte("1"), "b": []byte("2"), "c": nil}), "an empty file is more than none")
}

func TestNamesAreThoseThatAStudentMayChange(t *testing.T) {
	tasks := []*rubric.Task{
		{Dir: "task2_unfused", Files: []string{"kernels.cu", "attention.go"}, Provided: []string{"source.go"}},
		{Dir: "bonus/b1_rope", Files: []string{"rope.go"}},
		{Dir: "task7_gpt2"},
	}
	assert.Equal(t, []string{"bonus/b1_rope/rope.go", "task2_unfused/attention.go", "task2_unfused/kernels.cu"}, handin.Names(tasks))
}
