package similar

import (
	"emberd/engine/core"
	"emberd/op"
)

// Judge sets the verdict of each similar memory or note on the claim, and the status of the
// claim.
func (s *Claim) Judge(res *op.VerifyResult, all []Near) {
	confirmed, best := 0.0, 0.0
	for i := range all {
		one := &all[i]
		best = max(best, one.Similarity)
		switch {
		case one.Conflict:
			res.Matches = append(res.Matches, s.match(one, op.VerdictConflict))
		case one.Similarity < s.e.Opt.Known.Related:
		case one.Successor == nil && (one.Same || one.Similarity > s.e.Opt.Known.Confirmed) &&
			s.DistinctReason(one) == "":
			confirmed = max(confirmed, one.Similarity)
			res.Matches = append(res.Matches, s.match(one, op.VerdictConfirms))
		default:
			res.Matches = append(res.Matches, s.match(one, op.VerdictRelated))
		}
	}
	switch {
	case len(res.Conflicts) > 0:
		res.Status, res.Message, res.Confidence = op.StatusConflict, core.SayConflict, res.Conflicts[0].Similarity
	case confirmed > 0:
		res.Status, res.Message, res.Confidence = op.StatusConfirmed, core.SayConfirmed, ShownSimilarity(confirmed)
	case len(res.Matches) > 0:
		res.Status, res.Message, res.Confidence = op.StatusRelated, core.SayRelated, ShownSimilarity(best)
	default:
		res.Status, res.Message, res.Confidence = op.StatusNew, core.SayNew, ShownSimilarity(1-best)
	}
}
