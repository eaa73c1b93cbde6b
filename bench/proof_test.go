package bench

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// A word that only one memory holds finds that memory first: among 100,000
// others, right after it was saved, at the end, and after kill -9, from the
// first answer of the new daemon on.
func TestProofUniqueTokens(t *testing.T) {
	if os.Getenv("EMBERD_PROOF") == "" {
		t.Skip("set EMBERD_PROOF=1 to plant 500 words among 100,000 memories, which takes a minute or two")
	}
	const memories, tokens = 100_000, 500
	p := newProgram(t)
	d := p.start(t)
	texts := newProse(1)
	var all, few []planted
	for i := range tokens {
		fill(t, d, texts, memories/tokens-1)
		one := plant(t, d, texts, uniqueToken(texts, i))
		if rank := one.rank(t, d); rank != 1 {
			t.Errorf("%s is at rank %d right after it was saved, want 1", one.token, rank)
		}
		if all = append(all, one); i%25 == 0 {
			few = append(few, one)
		}
	}
	checkPlanted(t, d, all, "with all memories saved")

	d.stop(t, syscall.SIGKILL)
	p.forgetIndex(t)
	d = p.start(t)
	if d.status(t).Loading == nil {
		t.Error("the word index was complete at once, so nothing was searched while loading")
	}
	checkPlanted(t, d, few, "while loading after kill -9") // few, since each search looks through all texts
	d.waitIndexed(t)
	checkPlanted(t, d, all, "after kill -9")
	if got := d.status(t).Memories; got != memories {
		t.Errorf("%d memories after kill -9, want %d", got, memories)
	}
}

// uniqueToken makes words of the kinds that people look for: a name, a ticket,
// a hash, an identifier.
func uniqueToken(p *prose, i int) string {
	switch n := p.Uint64(); i % 4 {
	case 0:
		return "xq" + syllables(n%1e12)
	case 1:
		return fmt.Sprintf("TICKET-%d", 100_000+i)
	case 2:
		return fmt.Sprintf("%012x", n>>16)
	default:
		return fmt.Sprintf("retry_limit_%s", syllables(n%1e9))
	}
}

// planted is a memory with a word that no other has.
type planted struct {
	token string
	id    memory.ID
}

// plant saves a memory of the usual length with the token in the middle.
func plant(t *testing.T, d *daemon, p *prose, token string) planted {
	t.Helper()
	half := p.text(typicalText / 2)
	res := call(t, d, op.Save, &op.SaveRequest{Content: strings.Join([]string{half, token, p.text(typicalText / 2)}, " ")})
	return planted{token, res.Memory.ID}
}

func checkPlanted(t *testing.T, d *daemon, all []planted, when string) {
	t.Helper()
	first := 0
	for _, one := range all {
		rank := one.rank(t, d)
		if rank == 1 {
			first++
			continue
		}
		t.Errorf("%s is at rank %d %s, want 1", one.token, rank, when)
	}
	t.Logf("%d of %d at rank 1 %s", first, len(all), when)
}

// rank is the memory's place in the answer to its word, 0 when it is not in it.
func (p planted) rank(t *testing.T, d *daemon) int {
	t.Helper()
	for i, hit := range call(t, d, op.Search, &op.SearchRequest{Query: p.token}).Hits {
		if hit.ID == p.id {
			return i + 1
		}
	}
	return 0
}
