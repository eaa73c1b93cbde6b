package mcpserver

import (
	"slices"

	"emberd/memory"
)

// Profile says which tools a client is shown.
type Profile string

// The profiles.
const (
	Agent       Profile = "agent"       // few, for an agent that remembers: the default
	All         Profile = "all"         // every operation
	CortexGraph Profile = "cortexgraph" // the tools of CortexGraph, as its reference has them
	Reference   Profile = "reference"   // those of the memory server in the protocol's own repository
)

// Profiles lists them, the default first. It returns a fresh slice.
func Profiles() []Profile { return []Profile{Agent, All, CortexGraph, Reference} }

// ParseProfile accepts the names of profiles.
func ParseProfile(name string) (Profile, error) {
	if p := Profile(name); slices.Contains(Profiles(), p) {
		return p, nil
	}
	return "", memory.Errorf(memory.Invalid, "there are no tools %q; use agent, all, cortexgraph or reference", name).At("tools")
}

// toolsOf lists the tools that a client of a profile may call, those it is shown
// first. Of tools with one name it is the first that counts.
func toolsOf(p Profile) ([]*tool, error) {
	var own, others []*tool
	for _, t := range allTools() {
		if t.in(p) {
			own = append(own, t)
		} else {
			others = append(others, t)
		}
	}
	var out []*tool
	seen := make(map[string]bool)
	for _, t := range append(own, others...) {
		if seen[t.def.Name] {
			continue
		}
		seen[t.def.Name] = true
		if err := t.describe(); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// allTools makes every tool there is.
func allTools() []*tool {
	return slices.Concat(agentTools(), cortexGraphTools(), referenceTools(), healthTools(), operationTools())
}
