package cli

import (
	"fmt"

	"emberd/op"
)

// Ranked shows the rank as a bar, on a terminal, and as a number.
func (p Screen) Ranked(h *op.Hit, best float64) []string {
	number := fmt.Sprintf("%5.2f", h.Rank)
	if p.Width == 0 || best <= 0 {
		return []string{number}
	}
	return []string{p.Paint(Cyan, Bar(h.Rank/best, 5)), number}
}
