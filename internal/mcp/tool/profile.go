package tool

// Profile selects the tools that tools/list shows to a client.
type Profile string

// The profiles.
const (
	Agent       Profile = "agent"       // few, for an agent that remembers: the default
	Notes       Profile = "notes"       // those of agents, and tools that write notes
	All         Profile = "all"         // every operation
	CortexGraph Profile = "cortexgraph" // the tools of CortexGraph, as its reference has them
	Reference   Profile = "reference"   // those of the memory server in the protocol's own repository
)

// Profiles returns a new slice of all profiles, the default first.
func Profiles() []Profile { return []Profile{Agent, Notes, All, CortexGraph, Reference} }
