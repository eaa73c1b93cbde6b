package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// unknownKey is the error for a name that is no key.
func unknownKey(name string) error {
	if isGroup(name) {
		return fmt.Errorf("%s is a group of settings and takes no value itself; the first one in it is %s", name, firstIn(name))
	}
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].name
	}
	return fmt.Errorf("unknown key %s: the nearest known one is %s", clip(name), nearest(name, names))
}

func isGroup(name string) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return name != "" && k.group() == name })
}

func firstIn(group string) string {
	return keys[slices.IndexFunc(keys, func(k key) bool { return k.group() == group })].name
}

// nearest returns the known name with the least edit distance, ignoring case.
// A bare last part of a known name is as near as one edit, since leaving out
// the group is the likeliest mistake.
func nearest(name string, known []string) string {
	const longest = 64 // beyond any key, and it bounds the work
	name = strings.ToLower(name[:min(len(name), longest)])
	return slices.MinFunc(known, func(a, b string) int {
		return cmp.Compare(remoteness(name, a), remoteness(name, b))
	})
}

func remoteness(name, known string) int {
	known = strings.ToLower(known)
	d := distance(name, known)
	if i := strings.LastIndexByte(known, '.'); i >= 0 {
		d = min(d, 1+distance(name, known[i+1:]))
	}
	return d
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
