package dedupe

import (
	"cmp"
	"slices"

	"emberd/memory"
)

// stand says whose words a merged memory is, and what it counts for. Members that are
// data only raise nothing: if its text is that of another member, it counts for what those
// do, and else it is data only itself.
func stand(m *memory.Memory, old []memory.Memory, cohesion float64) {
	var trusted, data []memory.Memory
	for _, o := range old {
		if o.DataOnly() {
			data = append(data, o)
		} else {
			trusted = append(trusted, o)
		}
	}
	says := func(o memory.Memory) bool { return o.Content == m.Content }
	switch {
	case len(data) == 0:
		m.Strength = Strength(strengths(old), cohesion)
		vouch(m, old)
	case slices.ContainsFunc(trusted, says):
		m.Strength = strengths(trusted)[0]
		if len(trusted) > 1 {
			m.Strength = Strength(strengths(trusted), cohesion)
		}
		vouch(m, trusted)
	default:
		m.Origin, m.Importance, m.Strength = data[0].Origin, min(m.Importance, 0.5), min(1, slices.Max(strengths(old)))
		return
	}
	m.Importance = 0
	for _, o := range trusted {
		m.Importance = max(m.Importance, o.Importance)
	}
}

// vouch copies the origin from the oldest of the memories that count.
func vouch(m *memory.Memory, old []memory.Memory) {
	m.Origin, m.ConfirmedAt = old[0].Origin, old[0].ConfirmedAt
	if len(m.Sources) > 0 && m.Sources[0].Kind != m.Origin {
		m.Origin = cmp.Or(m.Origin, memory.FromAgent) // or it would be whose words the first link says
	}
}

func strengths(of []memory.Memory) []float64 {
	out := make([]float64, len(of))
	for i, o := range of {
		out[i] = o.Strength
	}
	return out
}
