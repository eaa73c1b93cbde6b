package config

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// removedKey is a setting that an earlier version had. A place that still sets it gets a warning,
// so that an upgrade never keeps a daemon from starting.
type removedKey struct {
	name string
	also []string // its variables of other programs, which are not read either
	now  string   // what takes its place; "" for a number of tuning
}

// say describes what takes the place of the setting.
func (r *removedKey) say() string {
	if r.now == "" {
		k := numbers()[find(numbers(), r.name)]
		return "use tuning: [" + r.name + "=" + k.def + "] with your number"
	}
	return r.now
}

// removedKeys are the settings that are none any more.
var removedKeys = sync.OnceValue(func() (all []removedKey) {
	for line := range strings.Lines(removedFile) {
		cells := strings.Split(line, "|")
		name, now := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[2])
		all = append(all, removedKey{name, strings.Fields(cells[1]), now})
	}
	return all
})

// removedFile has the lines "key | variables of other programs | what takes its place".
//
//go:embed removed.txt
var removedFile string

// removedAs returns the removed setting of that name, nil if there is none.
func removedAs(name string) *removedKey {
	if i := slices.IndexFunc(removedKeys(), func(r removedKey) bool { return r.name == name }); i >= 0 {
		return &removedKeys()[i]
	}
	return nil
}

// removedVariable returns the removed setting that a variable belongs to, nil if there is none.
func removedVariable(name string) *removedKey {
	return removedVariables()[name]
}

// removedVariables are the removed settings by their variables; of several with the same, the first one of the list.
var removedVariables = sync.OnceValue(func() map[string]*removedKey {
	all := map[string]*removedKey{}
	for i := range slices.Backward(removedKeys()) {
		r := &removedKeys()[i]
		for _, name := range append(slices.Clone(r.also), variable(r.name)) {
			all[name] = r
		}
	}
	return all
})
