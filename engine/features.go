package engine

import (
	"emberd/engine/admin"
	"emberd/engine/agents"
	"emberd/engine/cleanup"
	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/health"
	"emberd/engine/history"
	"emberd/engine/learn"
	"emberd/engine/lifecycle"
	"emberd/engine/listnotes"
	"emberd/engine/memories"
	"emberd/engine/merge"
	"emberd/engine/notelinks"
	"emberd/engine/notes"
	"emberd/engine/notesync"
	"emberd/engine/notewrite"
	"emberd/engine/promote"
	"emberd/engine/purge"
	"emberd/engine/recall"
	"emberd/engine/review"
	"emberd/engine/search"
	"emberd/engine/semantic"
	"emberd/engine/sessions"
	"emberd/engine/similar"
	"emberd/engine/storage"
	"emberd/engine/textmerge"
	"emberd/engine/transcripts"
	"emberd/engine/transfer"
	"emberd/internal/echo"
)

// Features are the packages of the engine for callers with the same permissions. Each feature
// has the view and the features below it, and none above it.
type Features struct {
	Notes     *notes.Notes
	Semantic  *semantic.Semantic
	Graph     *graph.Graph
	Similar   *similar.Similar
	Search    *search.Search
	Promote   *promote.Promote
	Lifecycle *lifecycle.Lifecycle
	Recall    *recall.Guard
	Memories  *memories.Memories
	Transfer  *transfer.Transfer
	Lists     *listnotes.Lists
	Sync      *notesync.Sync
	NoteWrite *notewrite.NoteWrite
	Links     *notelinks.Links
	History   *history.History
	Learn     *learn.Learn
	Sessions  *sessions.Sessions
	Merge     *merge.Merge
	Review    *review.Review
	Texts     *textmerge.TextMerge
	Health    *health.Health
	Storage   *storage.Storage
	Cleanup   *cleanup.Cleanup
	Agents    *agents.Agents
	Purge     *purge.Purge
	Admin     *admin.Admin

	Transcripts *transcripts.Transcripts
}

// state is the part of the features that all views share.
type state struct {
	notes     notes.State
	semantic  semantic.State
	search    search.State
	promote   promote.State
	lifecycle lifecycle.State
	lists     listnotes.State
	sync      notesync.State
	noteWrite notewrite.State
	links     notelinks.State
	learn     learn.State
	sessions  *sessions.State
	merge     merge.State
	review    review.State
	texts     textmerge.State
	health    health.State
	storage   storage.State
	cleanup   cleanup.State
	agents    agents.State
	purge     purge.State
	admin     admin.State

	transcripts transcripts.State
}

// wire builds the features of a view, lower ones first. No other function may build a feature,
// so that a feature cannot reach the memories of another view.
func wire(v *core.View, s *state) *Features {
	f := new(Features)
	f.Notes = &notes.Notes{View: v, State: &s.notes}
	f.Semantic = &semantic.Semantic{View: v, State: &s.semantic, Notes: f.Notes}
	f.Graph = &graph.Graph{View: v, Notes: f.Notes, Names: new(graph.KnownNames), Entities: graph.NewEntityGraph()}
	f.Similar = &similar.Similar{View: v, Graph: f.Graph, Notes: f.Notes, Semantic: f.Semantic}
	f.Transcripts = &transcripts.Transcripts{View: v, State: &s.transcripts}
	f.Search = &search.Search{View: v, State: &s.search, Graph: f.Graph, Notes: f.Notes, Semantic: f.Semantic,
		Transcripts: f.Transcripts}
	f.Promote = &promote.Promote{View: v, State: &s.promote, Graph: f.Graph, Notes: f.Notes}
	f.Lifecycle = &lifecycle.Lifecycle{View: v, State: &s.lifecycle, Notes: f.Notes, Promote: f.Promote,
		Search: f.Search}
	f.Recall = &recall.Guard{View: v, Lifecycle: f.Lifecycle, Notes: f.Notes, Similar: f.Similar,
		Returned: echo.New(v.Opt.EchoWindow)}
	f.Memories = &memories.Memories{View: v, Graph: f.Graph, Lifecycle: f.Lifecycle, Notes: f.Notes, Promote: f.Promote,
		Recall: f.Recall, Search: f.Search, Similar: f.Similar}
	f.Transfer = &transfer.Transfer{View: v, Graph: f.Graph, Lifecycle: f.Lifecycle}
	f.wireNotes(v, s)
	f.wireMaintenance(v, s)
	return f
}

// wireNotes builds the features above the memories: lists, note sync, history and learning.
func (f *Features) wireNotes(v *core.View, s *state) {
	f.Lists = &listnotes.Lists{View: v, State: &s.lists, Lifecycle: f.Lifecycle, Notes: f.Notes, Promote: f.Promote}
	f.Sync = &notesync.Sync{View: v, State: &s.sync, Lifecycle: f.Lifecycle, Notes: f.Notes, Promote: f.Promote}
	f.NoteWrite = &notewrite.NoteWrite{View: v, State: &s.noteWrite, Notes: f.Notes, Promote: f.Promote,
		Search: f.Search}
	f.Links = &notelinks.Links{View: v, State: &s.links, Lifecycle: f.Lifecycle, Memories: f.Memories, Notes: f.Notes,
		NoteWrite: f.NoteWrite, Promote: f.Promote}
	f.History = &history.History{View: v, Lifecycle: f.Lifecycle, Memories: f.Memories, Notes: f.Notes, Sync: f.Sync,
		NoteWrite: f.NoteWrite, Links: f.Links, Promote: f.Promote, Similar: f.Similar}
	f.Learn = &learn.Learn{View: v, State: &s.learn, Graph: f.Graph, Lifecycle: f.Lifecycle, Memories: f.Memories,
		Notes: f.Notes, Promote: f.Promote, Recall: f.Recall, Search: f.Search, Similar: f.Similar}
}

// wireMaintenance builds the features that work on many memories at once, sessions, which tell of review items, and
// administration.
func (f *Features) wireMaintenance(v *core.View, s *state) {
	f.Merge = &merge.Merge{View: v, State: &s.merge, Lifecycle: f.Lifecycle, Memories: f.Memories, Notes: f.Notes,
		Semantic: f.Semantic, Similar: f.Similar}
	f.Review = &review.Review{View: v, State: &s.review, Lifecycle: f.Lifecycle, Lists: f.Lists, Memories: f.Memories,
		Merge: f.Merge, Notes: f.Notes, Promote: f.Promote, Sync: f.Sync}
	f.Sessions = &sessions.Sessions{View: v, State: s.sessions, History: f.History, Learn: f.Learn,
		Memories: f.Memories, Recall: f.Recall, Review: f.Review, Search: f.Search, Transcripts: f.Transcripts}
	f.Texts = &textmerge.TextMerge{View: v, State: &s.texts, Lifecycle: f.Lifecycle, Memories: f.Memories,
		Review: f.Review}
	f.Health = &health.Health{View: v, State: &s.health, Lifecycle: f.Lifecycle, Merge: f.Merge, Review: f.Review,
		Semantic: f.Semantic, Similar: f.Similar}
	f.Storage = &storage.Storage{View: v, State: &s.storage, Promote: f.Promote}
	f.Cleanup = &cleanup.Cleanup{View: v, State: &s.cleanup, History: f.History, Lifecycle: f.Lifecycle,
		Memories: f.Memories, Merge: f.Merge,
		Notes: f.Notes, Promote: f.Promote, Review: f.Review, Search: f.Search, Similar: f.Similar, Storage: f.Storage}
	f.Agents = &agents.Agents{View: v, State: &s.agents, Lifecycle: f.Lifecycle, Memories: f.Memories, Merge: f.Merge,
		Notes: f.Notes, Promote: f.Promote, Review: f.Review}
	f.Purge = &purge.Purge{View: v, State: &s.purge, Cleanup: f.Cleanup, Health: f.Health, Links: f.Links,
		Lists: f.Lists, NoteWrite: f.NoteWrite, Promote: f.Promote, Semantic: f.Semantic, Sync: f.Sync,
		Transcripts: f.Transcripts}
	f.Admin = &admin.Admin{View: v, State: &s.admin, Agents: f.Agents, Cleanup: f.Cleanup, Lifecycle: f.Lifecycle,
		Links: f.Links, Lists: f.Lists, Notes: f.Notes, NoteWrite: f.NoteWrite, Sync: f.Sync, Promote: f.Promote,
		Purge: f.Purge, Review: f.Review, Semantic: f.Semantic, Storage: f.Storage, Texts: f.Texts}
}
