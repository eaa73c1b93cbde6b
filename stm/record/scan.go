package record

import (
	"bytes"
	"encoding/json"
	"errors"
)

// These are returned for bytes that are not the JSON we expect.
var (
	errSyntax = errors.New("not a JSON object")
	errNoList = errors.New("not a JSON array")
)

// maxDepth bounds nesting in what is read from disk.
const maxDepth = 64

// EachField calls fn with the name and the raw value of every member of the
// JSON object obj, in order, until fn returns false. It exists because
// start-up reads every line: encoding/json takes about eight times as long.
// It checks structure only; the code that decodes a value checks it.
func EachField(obj []byte, fn func(name, value []byte) bool) error {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return errSyntax
	}
	i = skipSpace(obj, i+1)
	if i < len(obj) && obj[i] == '}' {
		return atEnd(obj, i+1)
	}
	for {
		nameEnd := SkipString(obj, i)
		if nameEnd < 0 {
			return errSyntax
		}
		name, err := plainName(obj[i:nameEnd])
		if err != nil {
			return err
		}
		i = skipSpace(obj, nameEnd)
		if i >= len(obj) || obj[i] != ':' {
			return errSyntax
		}
		start := skipSpace(obj, i+1)
		end := skipValue(obj, start)
		if end < 0 {
			return errSyntax
		}
		if !fn(name, obj[start:end:end]) {
			return nil
		}
		i = skipSpace(obj, end)
		if i >= len(obj) {
			return errSyntax
		}
		if obj[i] == '}' {
			return atEnd(obj, i+1)
		}
		if obj[i] != ',' {
			return errSyntax
		}
		i = skipSpace(obj, i+1)
	}
}

// EachItem calls fn with the raw value of every item of a JSON array, in order,
// until fn returns false. Null is an array without items. The list is valid JSON
// without space around it.
func EachItem(list []byte, fn func(item []byte) bool) error {
	if bytes.Equal(list, Null) {
		return nil
	}
	if list[0] != '[' {
		return errNoList
	}
	i := skipSpace(list, 1)
	for list[i] != ']' {
		end := skipValue(list, i)
		if end < 0 {
			return errNoList // or nested too deep
		}
		if !fn(list[i:end:end]) {
			return nil
		}
		if i = skipSpace(list, end); list[i] == ',' {
			i = skipSpace(list, i+1)
		}
	}
	return nil
}

// plainName returns what a name says: escapes are rare, and replaced.
func plainName(quoted []byte) ([]byte, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	var s string
	err := json.Unmarshal(quoted, &s)
	return []byte(s), err
}

func atEnd(b []byte, i int) error {
	if skipSpace(b, i) != len(b) {
		return errSyntax
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// SkipString returns the index after the JSON string that starts at i, -1 if none does or it has no end. It does not
// look at what is in the string but for the backslashes.
func SkipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		// The end is looked for once, however many escapes lie before it.
		for end := i + n; i <= end; {
			k := bytes.IndexByte(b[i:end], '\\')
			if k < 0 {
				return end + 1
			}
			i += k + 2
		}
	}
}

// skipValue returns the index after the value that starts at i, or -1.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return SkipString(b, i)
	case '{', '[':
		return skipNested(b, i, maxDepth)
	}
	start := i
	for i < len(b) && bytes.IndexByte([]byte("+-.0123456789Eaeflnrstu"), b[i]) >= 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// skipNested returns the index after the object or array that starts at i, or
// -1 when it is not whole or nested deeper than limit.
func skipNested(b []byte, i, limit int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = SkipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			if depth++; depth > limit {
				return -1
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// Text decodes a JSON string. Escapes are rare in names and stamps, so the
// plain case is taken first.
func Text(value []byte) (string, error) {
	if len(value) >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1]), nil
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err
}
