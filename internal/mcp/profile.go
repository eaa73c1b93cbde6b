package mcp

import (
	"slices"

	"emberd/internal/mcp/cortexgraph"
	"emberd/internal/mcp/reference"
	"emberd/internal/mcp/tool"
	"emberd/memory"
)

// Profile selects the tools that tools/list shows to a client.
type Profile = tool.Profile

// The profiles.
const (
	Agent       = tool.Agent
	Notes       = tool.Notes
	All         = tool.All
	CortexGraph = tool.CortexGraph
	Reference   = tool.Reference
)

// Form selects the parts of a result in which a client receives an answer.
type Form = tool.Form

// Profiles returns a new slice of all profiles, the default first.
func Profiles() []Profile { return tool.Profiles() }

// ParseProfile returns the profile of a name.
func ParseProfile(name string) (Profile, error) {
	if p := Profile(name); slices.Contains(Profiles(), p) {
		return p, nil
	}
	return "", memory.Errorf(memory.Invalid, "invalid tools %q; use agent, notes, all, cortexgraph or reference",
		name).At("tools")
}

// toolsOf returns the tools that a client of a profile can call, those that tools/list shows
// first. Of tools with the same name it returns the first.
func toolsOf(p Profile) ([]*tool.Tool, error) {
	var own, others []*tool.Tool
	for _, t := range allTools() {
		if t.In(p) {
			own = append(own, t)
		} else {
			others = append(others, t)
		}
	}
	var out []*tool.Tool
	seen := make(map[string]bool)
	for _, t := range append(own, others...) {
		if seen[t.Def.Name] {
			continue
		}
		seen[t.Def.Name] = true
		if err := t.Describe(); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// allTools returns every tool.
func allTools() []*tool.Tool {
	return slices.Concat(agentTools(), noteTools(), cortexgraph.Tools(), reference.Tools(), healthTools(),
		operationTools())
}
