package bench

import (
	"fmt"
	"maps"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// toolStore is what tools are asked about.
type toolStore struct {
	tb    testing.TB
	d     *daemon
	texts *prose
	ids   []memory.ID
	names []string // of entities of the reference profile
	note  string   // path of one in the vault
	notes int      // that newNotePath named
}

// newToolStore saves n memories, some with tags and entities, and related in a chain.
func newToolStore(tb testing.TB, d *daemon, n int) *toolStore {
	tb.Helper()
	s := &toolStore{tb: tb, d: d, texts: newProse(1)}
	for have := 0; have < n; {
		items := make([]op.SaveRequest, min(op.MaxBatch, n-have))
		for i := range items {
			items[i].Content = s.texts.text(typicalText)
			items[i].Tags = []string{fmt.Sprintf("tag%d", (have+i)%20)}
			items[i].Entities = []string{fmt.Sprintf("Thing %d", (have+i)%200)}
		}
		res := call(tb, d, op.SaveBatch, &op.SaveBatchRequest{Items: items})
		for _, r := range res.Results {
			if r.Error != nil {
				tb.Fatalf("save: %s", r.Error.Detail)
			}
			s.ids = append(s.ids, r.ID)
		}
		have += len(items)
	}
	for i := range n / 10 {
		s.names = append(s.names, fmt.Sprintf("Entity %d", i))
	}
	d.waitIndexed(tb)
	s.note = call(tb, d, op.Promote, &op.PromoteRequest{ID: string(s.fresh().Memory.ID), Force: true}).Path
	return s
}

func (s *toolStore) id(i int) memory.ID { return s.ids[i%len(s.ids)] }

func (s *toolStore) name(i int) string { return s.names[i%len(s.names)] }

// fresh is a memory that nothing else is asked about.
func (s *toolStore) fresh() *op.SaveResult {
	return call(s.tb, s.d, op.Save, &op.SaveRequest{Content: s.texts.text(typicalText)})
}

func (s *toolStore) entities(from, to int) object {
	var list []object
	for i := from; i < to; i++ {
		list = append(list, object{"name": s.name(i), "entityType": "thing", "observations": []string{s.observation(i), s.texts.text(typicalText / 3)}})
	}
	return object{"entities": list}
}

func (s *toolStore) observation(i int) string { return fmt.Sprintf("observation %d", i) }

func (s *toolStore) related(i int) object {
	return object{"from": s.name(i), "to": s.name(i + 1), "relationType": "stands beside"}
}

type object = map[string]any

// toolCalls has good arguments for every tool of every profile, for the i-th call.
func (s *toolStore) toolCalls() map[string]func(i int) object {
	all := s.operationCalls()
	maps.Copy(all, s.profileCalls())
	maps.Copy(all, s.noteCalls())
	return all
}

// profileCalls are those of the profiles that have tools of their own.
func (s *toolStore) profileCalls() map[string]func(i int) object {
	return map[string]func(i int) object{
		"vector_search_knowledge":  func(int) object { return object{"query": s.texts.question()} },
		"memory_health_stale":      func(int) object { return object{} },
		"memory_health_low_access": func(int) object { return object{} },
		"memory_health_duplicates": func(int) object { return object{"sample_size": 100} },
		"memory_consolidate": func(int) object {
			return object{"id1": s.fresh().Memory.ID, "id2": s.fresh().Memory.ID, "keep": "id1"}
		},
		"memory_migration_run": func(int) object { return object{} },
		"memory_query":         func(int) object { return object{"query": s.texts.question()} },
		"memory_verify":        func(int) object { return object{"claim": s.texts.text(typicalText / 3)} },
		"memory_reinforce": func(i int) object {
			return object{"id": s.id(i), "new_evidence": s.texts.text(typicalText / 3)}
		},
		"memory_open":   func(i int) object { return object{"refs": []memory.ID{s.id(i), s.id(i + 1), s.id(i + 2)}} },
		"memory_list":   func(i int) object { return object{"tags": []string{fmt.Sprintf("tag%d", i%20)}} },
		"memory_add":    func(int) object { return object{"content": s.texts.text(typicalText)} },
		"memory_edit":   func(i int) object { return object{"id": s.id(i), "content": s.texts.text(typicalText)} },
		"memory_relate": func(i int) object { return object{"from": s.id(i), "to": s.id(i + 1), "type": "supports"} },
		"memory_forget": func(int) object { return object{"ids": []memory.ID{s.fresh().Memory.ID}} },
		"memory_undo":   func(int) object { return object{"tx": s.fresh().Tx} },
		"memory_status": func(int) object { return object{} },
		"memory_used":   func(i int) object { return object{"ids": []memory.ID{s.id(i), s.id(i + 1)}} },

		"save_memory":   func(int) object { return object{"content": s.texts.text(typicalText), "tags": []string{"measured"}} },
		"search_memory": func(int) object { return object{"query": s.texts.question()} },
		"search_unified": func(i int) object {
			return object{"query": s.texts.question(), "verbose": i%2 == 0}
		},
		"touch_memory": func(i int) object { return object{"memory_id": s.id(i)} },
		"observe_memory_usage": func(i int) object {
			return object{"memory_ids": []memory.ID{s.id(i), s.id(i + 1)}, "context_tags": []string{"measured"}}
		},
		"analyze_message": func(int) object {
			return object{"message": "Remember that I prefer tabs in Makefiles: " + s.texts.text(typicalText)}
		},
		"analyze_for_recall": func(int) object { return object{"message": "What did I decide about " + s.texts.question() + "?"} },
		"gc":                 func(int) object { return object{"dry_run": true} },
		"promote_memory":     func(int) object { return object{"memory_id": s.fresh().Memory.ID, "force": true} },
		"cluster_memories":   func(int) object { return object{} },
		"consolidate_memories": func(int) object {
			return object{"auto_detect": true, "mode": "preview"}
		},
		"read_graph":    func(int) object { return object{} }, // both profiles have one
		"open_memories": func(i int) object { return object{"memory_ids": []memory.ID{s.id(i), s.id(i + 1), s.id(i + 2)}} },
		"create_relation": func(i int) object {
			return object{"from_memory_id": s.id(i), "to_memory_id": s.id(i + 2), "relation_type": "supports"}
		},

		"create_entities":  func(i int) object { return s.entities(i, i+1) },
		"create_relations": func(i int) object { return object{"relations": []object{s.related(i)}} },
		"add_observations": func(i int) object {
			return object{"observations": []object{{"entityName": s.name(i), "contents": []string{s.texts.text(typicalText / 3)}}}}
		},
		"delete_entities": func(i int) object { return object{"entityNames": []string{s.name(len(s.names) - 1 - i)}} },
		"delete_observations": func(i int) object {
			return object{"deletions": []object{{"entityName": s.name(i), "observations": []string{s.observation(i)}}}}
		},
		"delete_relations": func(i int) object { return object{"relations": []object{s.related(i)}} },
		"search_nodes":     func(i int) object { return object{"query": s.name(i)} },
		"open_nodes":       func(i int) object { return object{"names": []string{s.name(i), s.name(i + 1)}} },
	}
}

// widest has what more can be asked of some tools for an answer as large as can be,
// beside numbers whose bounds the tools tell themselves.
func (s *toolStore) widest() map[string]object {
	hundred := min(100, len(s.ids))
	return map[string]object{
		"memory_open":    {"refs": s.ids[:min(50, len(s.ids))]},
		"memory_list":    {"tags": []string{}},
		"memory_query":   {"query": "tag:tag0", "depth": "whole"},
		"search_memory":  {"query": "tag:tag0"},
		"search_unified": {"query": "tag:tag0", "verbose": true},
		"open_memories":  {"memory_ids": s.ids[:hundred]},
		"open_nodes":     {"names": s.names[:min(100, len(s.names))]},
		"search_nodes":   {"query": "thing"},
	}
}
