package engine_test

import (
	"maps"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/op"
)

// asked are the operations that a grant reaches, with requests that are drawn when one is
// chosen.
func (w *worlds) asked() map[string]func() attempt {
	out := w.reads()
	maps.Copy(out, w.looks())
	maps.Copy(out, w.changes())
	if w.vault {
		maps.Copy(out, w.onNotes())
	}
	return out
}

func (w *worlds) query() string { return rapid.SampledFrom(scopedQueries).Draw(w.r, "query") }

func (w *worlds) limit() int { return rapid.SampledFrom([]int{0, 1, 2, 50}).Draw(w.r, "limit") }

func draws[Req, Res any](w *worlds, o op.Op[Req, Res], draw func() *Req) func() attempt {
	return func() attempt {
		req := draw()
		return asks(w, o, func(*world) *Req { return req })
	}
}

// byRef asks about one memory.
func byRef[Req, Res any](w *worlds, o op.Op[Req, Res], of func(id string) *Req) func() attempt {
	return func() attempt {
		ref := w.ref()
		return asks(w, o, func(in *world) *Req { return of(ref(in)) })
	}
}

func (w *worlds) reads() map[string]func() attempt {
	return map[string]func() attempt{
		"search": draws(w, op.Search, func() *op.SearchRequest {
			return &op.SearchRequest{Query: w.query(), Limit: w.limit(), Explain: rapid.Bool().Draw(w.r, "explain"),
				Offset: rapid.IntRange(0, 1).Draw(w.r, "offset"), Filter: op.Filter{Collection: rapid.SampledFrom([]string{"", "", "nowhere"}).Draw(w.r, "collection")}}
		}),
		"query":  draws(w, op.Query, func() *op.QueryRequest { return &op.QueryRequest{Query: w.query(), Limit: w.limit()} }),
		"verify": draws(w, op.Verify, func() *op.VerifyRequest { return &op.VerifyRequest{Claim: w.drawnSave().Content} }),
		"list": draws(w, op.List, func() *op.ListRequest {
			return &op.ListRequest{Limit: w.limit(), Sort: rapid.SampledFrom([]string{"", "used", "score", "uses", "accesses"}).Draw(w.r, "sort")}
		}),
		"graph": draws(w, op.Graph, func() *op.GraphRequest { return &op.GraphRequest{Limit: w.limit()} }),
		"stats": draws(w, op.Stats, func() *op.StatsRequest {
			return &op.StatsRequest{Project: rapid.SampledFrom([]string{"", "acme", "else"}).Draw(w.r, "project")}
		}),
		"status":  draws(w, op.Status, func() *op.StatusRequest { return &op.StatusRequest{} }),
		"journal": draws(w, op.Journal, func() *op.JournalRequest { return &op.JournalRequest{Limit: w.limit()} }),
		"entity.list": draws(w, op.EntityList, func() *op.EntityListRequest {
			return &op.EntityListRequest{Query: rapid.SampledFrom([]string{"", "Maren", "Zeppelin"}).Draw(w.r, "entity")}
		}),
		"knowledge": draws(w, op.Knowledge, func() *op.KnowledgeRequest {
			return &op.KnowledgeRequest{Of: rapid.SampledFrom([]string{"", "Maren Voss", "Zeppelin", "Private/Secret.md", "note:Plan", "Boiler"}).Draw(w.r, "of")}
		}),
		"complete": draws(w, op.Complete, func() *op.CompleteRequest {
			return &op.CompleteRequest{What: rapid.SampledFrom([]string{op.CompleteTags, op.CompleteProjects, op.CompletePaths, op.CompleteEntities, op.CompleteIDs}).Draw(w.r, "what"),
				Prefix: rapid.SampledFrom([]string{"", "w", "p", "m", "z"}).Draw(w.r, "prefix")}
		}),
		"analyze.message": draws(w, op.AnalyzeMessage, func() *op.AnalyzeMessageRequest {
			return &op.AnalyzeMessageRequest{Message: "remember that the zeppelin of maren voss is here"}
		}),
		"analyze.recall": draws(w, op.AnalyzeRecall, func() *op.AnalyzeRecallRequest {
			return &op.AnalyzeRecallRequest{Message: "what about the zeppelin and maren voss?"}
		}),
	}
}

// looks are about one memory.
func (w *worlds) looks() map[string]func() attempt {
	return map[string]func() attempt{
		"show":     byRef(w, op.Show, func(id string) *op.ShowRequest { return &op.ShowRequest{ID: id} }),
		"history":  byRef(w, op.History, func(id string) *op.HistoryRequest { return &op.HistoryRequest{ID: id} }),
		"why":      byRef(w, op.Why, func(id string) *op.WhyRequest { return &op.WhyRequest{ID: id} }),
		"timeline": byRef(w, op.Timeline, func(id string) *op.TimelineRequest { return &op.TimelineRequest{ID: id, Points: 4} }),
		"open_many": func() attempt {
			one, other := w.ref(), w.ref()
			return asks(w, op.OpenMany, func(in *world) *op.OpenManyRequest { return &op.OpenManyRequest{IDs: []string{one(in), other(in)}} })
		},
		"why_not": func() attempt {
			ref, query := w.ref(), w.query()
			return asks(w, op.WhyNot, func(in *world) *op.WhyNotRequest { return &op.WhyNotRequest{Query: query, Of: ref(in), Limit: 1} })
		},
		"links of a memory": byRef(w, op.Links, func(id string) *op.LinksRequest { return &op.LinksRequest{Note: id} }),
	}
}

func (w *worlds) changes() map[string]func() attempt {
	return map[string]func() attempt{
		"save": func() attempt {
			req := w.drawnSave()
			req.Tags, req.EvenRecalled = w.drawnTags(), rapid.Bool().Draw(w.r, "even recalled")
			if rapid.IntRange(0, 3).Draw(w.r, "keyed") == 0 {
				req.IdempotencyKey = "key 1"
			}
			return makes(w, op.Save, req, func(res *op.SaveResult) (memory.ID, string) { return res.Memory.ID, res.Tx })
		},
		"save_batch": func() attempt {
			item := w.drawnSave()
			return makes(w, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{*item}},
				func(res *op.SaveBatchResult) (memory.ID, string) { return res.Results[0].ID, res.Tx })
		},
		"add": func() attempt {
			req := &op.AddRequest{Content: w.drawnSave().Content, Tags: w.drawnTags(), Again: rapid.IntRange(0, 5).Draw(w.r, "again") == 0}
			return makes(w, op.Add, req, func(res *op.AddResult) (memory.ID, string) { return res.Memory.ID, res.Tx })
		},
		"reinforce": draws(w, op.Reinforce, func() *op.ReinforceRequest { return &op.ReinforceRequest{Content: w.drawnSave().Content} }),
		"edit": func() attempt {
			ref, req := w.ref(), op.EditRequest{}
			switch rapid.IntRange(0, 2).Draw(w.r, "edited") {
			case 0:
				req.Content = &w.drawnSave().Content
			case 1:
				req.Tags = new(w.drawnTags())
			case 2:
				req.Project = new(rapid.SampledFrom([]string{"", "acme"}).Draw(w.r, "project"))
			}
			return asks(w, op.Edit, func(in *world) *op.EditRequest {
				mine := req
				mine.ID = ref(in)
				return &mine
			})
		},
		"supersede": func() attempt {
			ref, old := w.ref(), w.ref()
			return asks(w, op.Edit, func(in *world) *op.EditRequest { return &op.EditRequest{ID: ref(in), Supersedes: []string{old(in)}} })
		},
		"forget": byRef(w, op.Forget, func(id string) *op.ForgetRequest { return &op.ForgetRequest{ID: id} }),
		"touch":  byRef(w, op.Touch, func(id string) *op.TouchRequest { return &op.TouchRequest{ID: id, Boost: true} }),
		"observe": byRef(w, op.Observe, func(id string) *op.ObserveRequest {
			return &op.ObserveRequest{IDs: []string{id}, Tags: []string{"far"}}
		}),
		"confirm": byRef(w, op.Confirm, func(id string) *op.ConfirmRequest { return &op.ConfirmRequest{ID: id} }),
		"relate": func() attempt {
			from, to := w.ref(), w.ref()
			return asks(w, op.Relate, func(in *world) *op.RelateRequest {
				return &op.RelateRequest{From: from(in), To: to(in), Type: memory.Related}
			})
		},
		"undo": func() attempt {
			i := rapid.IntRange(-1, 3).Draw(w.r, "entry")
			return asks(w, op.Undo, func(in *world) *op.UndoRequest {
				if i < 0 || i >= len(in.txs) {
					return &op.UndoRequest{}
				}
				return &op.UndoRequest{Tx: in.txs[i]}
			})
		},
	}
}

// onNotes are for a store with a vault.
func (w *worlds) onNotes() map[string]func() attempt {
	note := func() string {
		return rapid.SampledFrom([]string{"Plan", "Boiler", "Secret", "Private/Plan.md", "Private/Secret", "Work/Plan.md", "Loose", "Nothing"}).Draw(w.r, "note")
	}
	return map[string]func() attempt{
		"note.read":       draws(w, op.NoteRead, func() *op.NoteReadRequest { return &op.NoteReadRequest{Path: note()} }),
		"note.context":    draws(w, op.NoteContext, func() *op.NoteContextRequest { return &op.NoteContextRequest{Path: note()} }),
		"note.append":     draws(w, op.NoteAppend, func() *op.NoteAppendRequest { return &op.NoteAppendRequest{Path: note(), Text: "x", Preview: true} }),
		"recent.activity": draws(w, op.RecentActivity, func() *op.RecentActivityRequest { return &op.RecentActivityRequest{Of: op.ActivityMemories} }), // the times of notes are those of the disk
		"links":           draws(w, op.Links, func() *op.LinksRequest { return &op.LinksRequest{Note: note()} }),
		"why_not of note": draws(w, op.WhyNot, func() *op.WhyNotRequest { return &op.WhyNotRequest{Query: w.query(), Of: note(), Limit: 1} }),
		"promote":         byRef(w, op.Promote, func(id string) *op.PromoteRequest { return &op.PromoteRequest{ID: id, Force: true} }),
		"archive":         byRef(w, op.Archive, func(id string) *op.ArchiveRequest { return &op.ArchiveRequest{ID: id} }),
		"rekindle":        byRef(w, op.Rekindle, func(id string) *op.RekindleRequest { return &op.RekindleRequest{Query: id} }),
		"rekindle words":  draws(w, op.Rekindle, func() *op.RekindleRequest { return &op.RekindleRequest{Query: w.query()} }),
	}
}
