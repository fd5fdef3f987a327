package gguf

import "fmt"

// Metadata is what a file says of its model: by key an int64, a float64, a bool, a string, or a list of one of these.
type Metadata map[string]any

// get is a value of one type, or otherwise where there is none.
func get[T any](m Metadata, key, want string, otherwise T) (T, error) {
	v, ok := m[key]
	if !ok {
		return otherwise, nil
	}
	one, ok := v.(T)
	if !ok {
		return otherwise, fmt.Errorf("%s = %.60s: want %s", key, fmt.Sprint(v), want)
	}
	return one, nil
}

// Int is a whole number, at most that of an int32.
func (m Metadata) Int(key string, otherwise int) (int, error) {
	v, err := get(m, key, "a whole number", int64(otherwise))
	if err == nil && int64(int32(v)) != v {
		err = fmt.Errorf("%s = %d: want a number of 32 bits", key, v)
	}
	return int(v), err
}

// Float is a number.
func (m Metadata) Float(key string, otherwise float64) (float64, error) {
	return get(m, key, "a number", otherwise)
}

// Bool is true or false.
func (m Metadata) Bool(key string, otherwise bool) (bool, error) {
	return get(m, key, "true or false", otherwise)
}

// Text is a string.
func (m Metadata) Text(key string) (string, error) { return get(m, key, "a text", "") }

// Texts is a list of strings.
func (m Metadata) Texts(key string) ([]string, error) {
	return get[[]string](m, key, "a list of texts", nil)
}

// Ints is a list of whole numbers.
func (m Metadata) Ints(key string) ([]int64, error) {
	return get[[]int64](m, key, "a list of whole numbers", nil)
}
