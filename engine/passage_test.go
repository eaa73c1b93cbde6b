package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSnippetsOfNotesArePlainText(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{
		"Soil.md": "# Soil\n\n<div>\n\nFeed the **worms** with <b>compost</b>, see [[Bins|the bins]] %%and not this%% and `lime`.\n\n</div>\n\n" +
			"## Later\n\nAnother section.\n",
	})
	e := h.following(t)
	const want = "Feed the worms with compost, see the bins and lime."
	if hits := searchFor(t, e, "compost worms"); len(hits) != 1 || hits[0].Snippet.Text != want || len(hits[0].Snippet.Marks) != 2 {
		t.Errorf("found %+v, want the snippet %q with two marks", hits, want)
	}
}

// A long section has several passages, and the snippet is of the best.
func TestSnippetsAreOfThePassageThatMatched(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Log\n\n")
	for range 200 {
		b.WriteString("Nothing happened on this day in the garden either, as on so many days.\n\n")
	}
	b.WriteString("A heron came for the fish.\n\n")
	for range 200 {
		b.WriteString("Nothing happened on this day in the garden either, as on so many days.\n\n")
	}
	h := vaultHouse(t, map[string]string{"Log.md": b.String()})
	hits := searchFor(t, h.following(t), "heron fish")
	if len(hits) != 1 || !strings.Contains(hits[0].Snippet.Text, "A heron came for the fish.") || len(hits[0].Snippet.Marks) != 2 {
		t.Errorf("found %+v, want the sentence with the heron", hits)
	}
}

// Until the index has caught up with an edit, a hit shows what the note says now, and where.
func TestSnippetsOfChangedNotes(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{
		"Pond.md": "# Pond\n\nOld things.\n\n## Birds\n\nThe heron stands here.\n",
		"Away.md": "# Away\n\nAnother heron.\n",
	})
	e := h.following(t)
	ok(t, e.Close())
	h.write(t, "Pond.md", "# Pond\n\nNew things, much more of them than there were.\n\n## Fish\n\nNone.\n\n## Guests\n\nThe *heron* left.\n")
	ok(t, os.Remove(filepath.Join(h.Vaults[0], "Away.md")))

	hits := searchFor(t, h.open(t), "heron") // nothing reads the vault without Run
	if got := names(hits); len(got) != 2 || !slices.Contains(got, "Pond.md") || !slices.Contains(got, "Away.md") {
		t.Fatalf("found %q, want both notes as they were indexed", got)
	}
	for _, hit := range hits {
		switch hit.Note.Path {
		case "Away.md":
			if hit.Snippet.Text != "" {
				t.Errorf("a note that is gone shows %q", hit.Snippet.Text)
			}
		case "Pond.md":
			if hit.Snippet.Text != "The heron left." || hit.Note.Line != 9 || !slices.Equal(hit.Note.Heading, []string{"Pond", "Guests"}) {
				t.Errorf("shows %q in line %d under %q, want what the note says now", hit.Snippet.Text, hit.Note.Line, hit.Note.Heading)
			}
		}
	}
}
