// Package eval reads judged sets, measures rankings against them, and knows what
// plain BM25 makes of the same set. It imports nothing of ours and asks nobody:
// whoever has a search to measure fills a [Run].
//
// # A set
//
// A set is a folder with things that can be found, questions, and judgements of
// which thing answers which question. One folder may have several units:
//
//	turns  memories.jsonl  id, text, and if there: speaker, caption, conv, timestamp
//	facts  facts.jsonl     id, text, and if there: conv, timestamp
//	docs   docs.jsonl      id, title, text
//	notes  notes/, vault/, docs/  Markdown files
//
// Questions are queries.jsonl (id, text or question, and if there: conv and
// category_name, category, kind or difficulty), judgements qrels*.tsv (question,
// thing and grade, apart by tabs, below one line of titles). Questions about the
// notes may name the docs that answer them instead. Or known_item.jsonl has both:
// id, text, kind, and the notes that answer. A question with conv can also be
// asked within its conversation alone.
//
// # Measures
//
// All are means over the judged questions that can be asked. Recall at k is the
// share of the relevant things among the first k, the hit rate at 5 that of
// questions with any of them among the first five, MRR at 10 the mean of 1/rank
// of the first, nDCG at 10 the gain discounted by log2(rank + 1) over the ideal
// one (Järvelin and Kekäläinen, 2002, as trec_eval has it). A thing that comes
// twice keeps both ranks and counts at the first.
//
// # Sharing
//
// A Set is not changed after it was returned. It may be read by several
// goroutines, and its slices and maps must not be changed.
package eval

// Unit is the kind of things that a set lets one find.
type Unit string

// The units.
const (
	Turns Unit = "turns"
	Facts Unit = "facts"
	Notes Unit = "notes"
	Docs  Unit = "docs"
)

// Units lists all units, in the order of reports.
func Units() []Unit { return []Unit{Turns, Facts, Notes, Docs} }

// file is where the things of a unit are, "" for notes.
func (u Unit) file() string {
	return map[Unit]string{Turns: "memories.jsonl", Facts: "facts.jsonl", Docs: "docs.jsonl"}[u]
}

// judgements are the files that judge this unit only.
func (u Unit) judgements() []string {
	switch u {
	case Turns:
		return []string{"qrels_audited.tsv", "qrels_turns.tsv"}
	case Facts:
		return []string{"qrels_facts.tsv"}
	case Notes:
		return []string{"qrels_notes.tsv"}
	}
	return nil
}
