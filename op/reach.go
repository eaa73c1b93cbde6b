package op

// Reach is how far an operation goes for a caller with a grant, see [WithGrant].
type Reach string

// The reaches.
const (
	Free   Reach = "open"   // it holds nothing of memories and notes
	Scoped Reach = "scoped" // it goes as far as the grant: nothing else is there
	// Whole is refused unless the grant changes everything or, for what only reads, reads
	// everything.
	Whole Reach = "whole"
)

// Reach is how far the operation goes. The zero value is the whole.
func (s *Spec) Reach() Reach {
	switch s {
	case Version.Spec, Embed.Spec:
		return Free
	case Save.Spec, SaveBatch.Spec, Add.Spec, Edit.Spec, Forget.Spec, ForgetBatch.Spec, Touch.Spec, Observe.Spec,
		Reinforce.Spec, Confirm.Spec,
		Promote.Spec, Archive.Spec, Rekindle.Spec, Relate.Spec, RelateBatch.Spec, Unrelate.Spec, Undo.Spec,
		NoteWrite.Spec, NoteAppend.Spec, NoteEdit.Spec, Hook.Spec:
		return Scoped
	case Search.Spec, Query.Spec, Verify.Spec, List.Spec, Show.Spec, OpenMany.Spec, Graph.Spec, WhyNot.Spec, Why.Spec,
		Timeline.Spec, History.Spec,
		Journal.Spec, EntityList.Spec, Knowledge.Spec, Complete.Spec, Stats.Spec, Status.Spec, AnalyzeMessage.Spec,
		AnalyzeRecall.Spec,
		NoteRead.Spec, Links.Spec, Open.Spec, NoteContext.Spec, RecentActivity.Spec:
		return Scoped
	}
	return Whole
}
