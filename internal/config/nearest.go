package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"emberd/internal/spelling"
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
	near := nearest(name, names)
	if 2*remoteness(name, near) > len(name) {
		return fmt.Errorf("unknown key %s; emberd config lists them all", clip(name))
	}
	return fmt.Errorf("unknown key %s: the nearest known one is %s", clip(name), near)
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
	return slices.MinFunc(known, func(a, b string) int {
		return cmp.Compare(remoteness(name, a), remoteness(name, b))
	})
}

func remoteness(name, known string) int {
	d := spelling.Distance(name, known)
	if i := strings.LastIndexByte(known, '.'); i >= 0 {
		d = min(d, 1+spelling.Distance(name, known[i+1:]))
	}
	return d
}
