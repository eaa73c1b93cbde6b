package bench

import (
	"maps"

	"emberd/memory"
	"emberd/op"
)

// operationCalls has good arguments for the tools that are operations, by their names.
func (s *toolStore) operationCalls() map[string]func(i int) object {
	none := func(int) object { return object{} }
	dry := func(int) object { return object{"dry_run": true} }
	all := s.questionCalls()
	maps.Copy(all, map[string]func(i int) object{
		"add":           func(int) object { return object{"content": s.texts.text(typicalText)} },
		"agents_run":    dry,
		"archive":       func(int) object { return object{"id": s.fresh().Memory.ID} },
		"backup_create": none,
		"compact":       dry,
		"edit":          func(i int) object { return object{"id": s.id(i), "content": s.texts.text(typicalText)} },
		"forget":        func(int) object { return object{"id": s.fresh().Memory.ID} },
		"forget_batch":  func(int) object { return object{"ids": []memory.ID{s.fresh().Memory.ID, s.fresh().Memory.ID}} },
		"keeper_here":   none,
		"lifecycle_run": dry,
		"observe":       func(i int) object { return object{"ids": []memory.ID{s.id(i)}, "tags": []string{"measured"}} },
		"promote":       func(int) object { return object{"id": s.fresh().Memory.ID, "force": true} },
		"promote_auto":  dry,
		"cleanup":       func(int) object { return object{"collection": "knowledge", "mode": "full"} },
		"clusters":      func(int) object { return object{} },
		"consolidate":   func(int) object { return object{"auto_detect": true} },
		"relate":        func(i int) object { return object{"from": s.id(i), "to": s.id(i + 3), "type": "causes"} },
		"relate_batch": func(i int) object {
			return object{"items": []object{{"from": s.id(i), "to": s.id(i + 4), "type": "causes"}}}
		},
		"reinforce":    func(i int) object { return object{"id": s.id(i), "new_evidence": s.texts.text(typicalText / 3)} },
		"review_claim": func(int) object { return object{"id": s.asked(), "by": "ann"} },
		"review_close": func(int) object { return object{"id": s.asked(), "decision": "keep"} },
		"review_create": func(int) object {
			return object{"memory_ids": []memory.ID{s.fresh().Memory.ID}, "evidence": "measured"}
		},
		"save":          func(int) object { return object{"content": s.texts.text(typicalText)} },
		"save_batch":    func(int) object { return object{"items": []object{{"content": s.texts.text(typicalText)}}} },
		"touch":         func(i int) object { return object{"id": s.id(i)} },
		"trash_restore": func(int) object { return object{"ids": []memory.ID{s.forgotten()}} },
		"undo":          func(int) object { return object{"tx": s.fresh().Tx} },
		"unrelate":      func(i int) object { return object{"id": s.relation(i)} },
		"vault_confirm": none,
		"vault_open":    func(int) object { return s.released() },
		"vault_release": func(int) object { return s.opened() },

		// There is nothing to ask these about in a store that is in order.
		"cleanup_rollback":  none,
		"quarantine_accept": func(int) object { return object{"id": "q1"} },
		"quarantine_show":   func(int) object { return object{"id": "q1"} },
		"stale_decide":      func(i int) object { return object{"id": s.id(i), "keep": true} },
	})
	return all
}

// questionCalls are those of them that change nothing.
func (s *toolStore) questionCalls() map[string]func(i int) object {
	none := func(int) object { return object{} }
	of := func(i int) object { return object{"id": s.id(i)} }
	return map[string]func(i int) object{
		"analyze_message":  func(int) object { return object{"message": "Remember: " + s.texts.text(typicalText)} },
		"analyze_recall":   func(int) object { return object{"message": "What did we say of " + s.texts.question() + "?"} },
		"audit":            func(int) object { return object{"kind": "all"} },
		"cleanup_history":  none,
		"cleanup_report":   none,
		"complete":         func(int) object { return object{"what": "tags", "prefix": "t"} },
		"graph":            none,
		"health":           none,
		"history":          of,
		"journal":          none,
		"keeper":           none,
		"lifecycle_status": none,
		"engine_status":    none,
		"entity_list":      func(int) object { return object{"q": "thing"} },
		"knowledge":        func(i int) object { return object{"of": s.id(i)} },
		"links":            func(int) object { return object{"note": s.note} },
		"list":             none,
		"note_read":        func(int) object { return object{"path": s.note} },
		"open":             func(int) object { return object{"ref": s.note} },
		"open_many":        func(i int) object { return object{"ids": []memory.ID{s.id(i), s.id(i + 1)}, "relations": true} },
		"quarantine_list":  none,
		"rekindle":         func(int) object { return object{"q": s.texts.question(), "dry_run": true} },
		"review_list":      none,
		"review_show":      func(int) object { return object{"id": s.asked()} },
		"search":           func(int) object { return object{"q": s.texts.question()} },
		"query":            func(int) object { return object{"query": s.texts.question()} },
		"verify":           func(int) object { return object{"claim": s.texts.text(typicalText / 3)} },
		"show":             of,
		"stale_list":       none,
		"stats":            none,
		"status":           none,
		"timeline":         of,
		"trash_list":       none,
		"vault_check":      none,
		"version":          none,
		"why":              of,
		"why_not":          func(i int) object { return object{"q": s.texts.question(), "of": s.id(i)} },
	}
}

// refused are tools whose answer to that is an error, which is measured then.
func refused(name string) bool {
	return name == "quarantine_accept" || name == "quarantine_show" || name == "stale_decide" || name == "cleanup_rollback"
}

// opened are the arguments of a release, before which the vault is open.
func (s *toolStore) opened() object {
	call(s.tb, s.d, op.VaultOpen, &op.VaultOpenRequest{})
	return object{}
}

// released are the arguments of what opens the vault again, before which it is released.
func (s *toolStore) released() object {
	call(s.tb, s.d, op.VaultRelease, &op.VaultReleaseRequest{})
	return object{}
}

// forgotten is a memory in the trash.
func (s *toolStore) forgotten() memory.ID {
	id := s.fresh().Memory.ID
	call(s.tb, s.d, op.Forget, &op.ForgetRequest{ID: string(id)})
	return id
}

// asked is a review item about a memory that nothing else is asked about.
func (s *toolStore) asked() string {
	return call(s.tb, s.d, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{string(s.fresh().Memory.ID)}}).Item.ID
}

// relation is one that is there.
func (s *toolStore) relation(i int) string {
	res := call(s.tb, s.d, op.Relate, &op.RelateRequest{From: string(s.id(i)), To: string(s.fresh().Memory.ID), Type: "related"})
	return string(res.Relation.ID)
}
