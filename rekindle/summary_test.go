package rekindle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/internal/text/analysis"
	"emberd/rekindle"
)

var summarizer = rekindle.NewSummarizer(analysis.New())

func TestBound(t *testing.T) {
	for _, c := range []struct{ length, want int }{{0, 0}, {1, 1}, {79, 79}, {80, 80}, {8000, 80}, {8099, 80}, {8100, 81}, {50_000, 500}} {
		if got := rekindle.Bound(strings.Repeat("ü", c.length)); got != c.want {
			t.Errorf("bound of %d characters = %d, want %d", c.length, got, c.want)
		}
	}
}

// TestSummary shows what stays of a text.
func TestSummary(t *testing.T) {
	for _, c := range []struct {
		name, content string
		entities      string // apart by commas; people with an @ before them
		want          string
	}{
		{name: "one short sentence", content: "The database listens on port 5432.", want: "The database listens on port 5432."},
		{name: "all of a short text", content: "The port is 5432. The host is db1.", want: "The port is 5432; the host is db1."},
		{name: "what is told, not what is asked", content: "How are you doing these days, my dear old friend? I moved to Lisbon in March to work at a hospital.",
			want: "I moved to Lisbon in March to work at a hospital."},
		{name: "small talk goes", content: "Thanks so much, that is really great! Wow. By the way, we adopted a greyhound called Pixel from the shelter in Ghent.",
			want: "We adopted a greyhound called Pixel from the shelter in Ghent."},
		{name: "who says it stays", content: "Maria: Hey, good to see you again! How are you? I bought a blue bicycle on Saturday, it cost 340 euro.",
			want: "Maria: I bought a blue bicycle on Saturday, it cost 340 euro."},
		{name: "asides go first", content: "We decided (after a long and heated discussion on Monday morning) to use PostgreSQL for the billing service.",
			want: "We decided to use PostgreSQL for the billing service."},
		{name: "then what only colours", content: "The backup of the billing database really always starts at exactly 03:00 on every single Sunday.",
			want: "Backup of billing database starts at exactly 03:00 on every single Sunday."},
		{name: "an entity that is not named", content: "PostgreSQL came up again. After a long discussion we decided to move the whole billing service to it in autumn.",
			entities: "PostgreSQL", want: "PostgreSQL: After long discussion … move whole billing service to it in autumn."},
		{name: "a person named behind the sentence says nothing of it", entities: "@Emma", want: "I hate the new office, it is loud and far away; Emma likes it.",
			content: "I hate the new office, it is loud and far away. Emma likes it."},
		{name: "nor one named before it", entities: "@Emma",
			content: "Emma came by in the morning to have a look. The old pump in the cellar is leaking again and has to be sealed this week.",
			want:    "The old pump in the cellar is leaking again and has to be sealed this week."},
		{name: "nor a thing that is named only afterwards", entities: "Grafana",
			content: "Never run the migration of the orders table on a Friday afternoon. The panels of Grafana stood still for hours that day.",
			want:    "Never run the migration of the orders table on a Friday afternoon."},
		{name: "Markdown", content: "# Deploy\n\n- [ ] Run `make deploy_prod` on **ember-1**, see [[Runbook|the runbook]] ^a1\n- Wait",
			want: "Run make deploy_prod on ember-1, see the runbook"},
		{name: "code is the last resort", content: "```sh\nfor f in *.log; do gzip \"$f\"; done\n```\nCompresses all the logs of the night before they are shipped to the archive in Frankfurt.",
			want: "Compresses all logs of night before they are shipped to archive in Frankfurt."},
		{name: "nothing but code", content: "```\nssh -L 5432:db1:5432 bastion\n```", want: "ssh -L 5432:db1:5432 bastion"},
		{name: "Chinese", content: "你好！今天天气怎么样？我们决定把数据库从MySQL迁移到PostgreSQL，因为计费服务需要更好的事务支持，并且运维团队在法兰克福已经有了丰富的经验。大家都同意了这个决定，下个月开始实施。谢谢！",
			want: "我们决定把数据库从MySQL迁移到PostgreSQL，因为计费服务需要更好的事务支持，并且运维团队在法兰克福已经有了丰富的经验。"},
		{name: "a negation is not dropped with what is around it",
			content: "We decided on Monday after a very long debate with all teams that nobody will ever again use MySQL replication for invoices.",
			want:    "We decided on Monday after long debate with all teams that nobody will ever…"},
		{name: "nor when a part from further on weighs more",
			content: "it is what we all had been told so many times by now that you should not enable PostgreSQL replication between Frankfurt, Dublin, Amsterdam, Stockholm and Helsinki as it is now and was then and there before all of that was so",
			want:    "…should not enable PostgreSQL replication between Frankfurt, Dublin, Amsterdam…"},
		{name: "Japanese", content: "こんにちは！新しいサーバーは東京のデータセンターにあり、管理者は田中さんです。",
			want: "新しいサーバーは東京のデータセンターにあり、管理者は田中さんです。"},
		{name: "a title that the sentence does not name", content: "# Remote work\n\nAll employees need a VPN from the first of March on.",
			want: "Remote work: All employees need a VPN from the first of March on."},
		{name: "not what only promises", content: "Migrating the billing database to the new server needs these commands, in this order:\n\n- Stop the billing service on ember-1 and copy its database.",
			want: "Stop the billing service on ember-1 and copy its database."},
		{name: "markup around code", content: "Never end **a `query` line** with *one* `*` or __init__ and snake_case_names.",
			want: "Never end a query line with one * or __init__ and snake_case_names."},
		{name: "a quote, a table and a comment", content: "> [!note] Ports\n> | db1 | 5432 |\n> |---|---|\n<!-- hidden -->\n",
			want: "db1, 5432"},
		{name: "properties and nothing else", content: "---\nrating: 7\n---\n", want: "rating: 7"},
		{name: "only marks", content: "***", want: "***"},
		{name: "only control characters", content: "\x00\x01", want: "…"},
		{name: "nothing", content: "", want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var entities, people []string
			for e := range strings.SplitSeq(c.entities, ",") {
				if person, ok := strings.CutPrefix(e, "@"); ok {
					people = append(people, person)
				} else if e != "" {
					entities = append(entities, e)
				}
			}
			if got := summarizer.Summary(c.content, entities, people...); got != c.want {
				t.Errorf("summary\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

// anyText draws texts as people and programs write them, and worse.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.StringMatching(`[A-Z][a-z]{1,9}( [a-z]{1,9}){0,25}[.!?]? ?`),
		rapid.SampledFrom([]string{"\n", "\n\n", "# ", "- ", "> ", "```\n", "|a|b|\n", "---\n", "**", "[[Note|alias]]", "[a](b)", "&lt;b&gt;",
			"我们昨天去了北京。", "東京タワー！", "서울에 갔다. ", "สวัสดีครับ", "👩‍👩‍👧‍👦", "e\u0301", "\u202e", "\u0000", "\xff", "Dr. ", "3. Mai ", "Ada Lovelace: "}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
	})
}

func anyEntities() *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"Ada Lovelace", "北京", "Note"}), rapid.String()), 0, 4)
}

func TestSummaryProperties(t *testing.T) {
	other := rekindle.NewSummarizer(analysis.New())
	rapid.Check(t, func(t *rapid.T) {
		content, entities := anyText().Draw(t, "content"), anyEntities().Draw(t, "entities")
		got := summarizer.Summary(content, entities)
		checkLine(t, got)
		if n := utf8.RuneCountInString(got); n > rekindle.Bound(content) || n > utf8.RuneCountInString(content) {
			t.Fatalf("summary of %d characters has %d: %q", utf8.RuneCountInString(content), n, got)
		}
		if content != "" && got == "" {
			t.Fatal("the summary is empty")
		}
		if again := other.Summary(content, entities); got != again {
			t.Fatalf("summary %q, and another time %q", got, again)
		}
		remains, terms := other.Remains(content, entities)
		if remains != got || !slices.Equal(terms, other.KeyTerms(content, entities)) {
			t.Fatalf("what remains is %q and %q, each by itself is %q and %q", remains, terms, got, other.KeyTerms(content, entities))
		}
	})
}

// A sentence that says not must not come out as one that says so.
func TestSummaryKeepsNegations(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{3,10}`)
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(word, 1, 20).Draw(t, "before")
		after := rapid.SliceOfN(word, 4, 20).Draw(t, "after")
		no := rapid.SampledFrom([]string{"not", "never", "don't", "won’t", "nicht", "jamais", "не"}).Draw(t, "negation")
		got := summarizer.Summary(strings.Join(before, " ")+" "+no+" "+strings.Join(after, " ")+".", nil)
		for _, w := range after {
			if strings.Contains(got, " "+w) && !slices.Contains(before, w) && !strings.Contains(got, no) && !strings.Contains(strings.Join(before, " "), w) {
				t.Fatalf("%q has %q without %q", got, w, no)
			}
		}
	})
}

// checkLine checks that s is one line of text that can be shown anywhere.
func checkLine(t interface{ Fatalf(string, ...any) }, s string) {
	control := func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || r == '\u202e' }
	if !utf8.ValidString(s) || strings.ContainsFunc(s, control) {
		t.Fatalf("%q is not one line of valid text", s)
	}
}

func TestKeyTerms(t *testing.T) {
	got := summarizer.KeyTerms("Hey! We are migrating the billing service to PostgreSQL. PostgreSQL runs on ember-1.", []string{"billing service"})
	for _, want := range []string{"PostgreSQL", "billing", "service", "migrating", "ember"} {
		if !slices.Contains(got, want) {
			t.Errorf("key terms %q are without %q", got, want)
		}
	}
	if len(got) > 0 && got[0] != "service" && got[0] != "billing" && got[0] != "PostgreSQL" {
		t.Errorf("%q weighs most of %q", got[0], got)
	}
}

// Key terms are stored and analysed again when they are indexed.
func TestKeyTermsProperties(t *testing.T) {
	analyzer := analysis.New()
	rapid.Check(t, func(t *rapid.T) {
		content, entities := anyText().Draw(t, "content"), anyEntities().Draw(t, "entities")
		got := summarizer.KeyTerms(content, entities)
		if len(got) > rekindle.MaxKeyTerms {
			t.Fatalf("%d key terms", len(got))
		}
		if again := summarizer.KeyTerms(content, entities); !slices.Equal(got, again) {
			t.Fatalf("key terms %q, and another time %q", got, again)
		}
		for _, word := range got {
			checkLine(t, word)
			if len(analyzer.Query(word)) == 0 {
				t.Fatalf("%q of %q finds nothing", word, got)
			}
		}
		if len(got) == 0 && len(analyzer.Query(summarizer.Summary(content, entities))) > 0 {
			t.Fatal("there are no key terms, though the summary has terms")
		}
	})
}

func TestAsk(t *testing.T) {
	const content = "We decided on Monday to use PostgreSQL for the billing service. The old MySQL server is switched off in May, after the audit."
	answers := func(answer string, err error) rekindle.Model {
		return func(context.Context, string, int) (string, error) { return answer, err }
	}
	for _, c := range []struct {
		name      string
		model     rekindle.Model
		want, why string
	}{
		{"an answer", answers("Billing moves to PostgreSQL in May.", nil), "Billing moves to PostgreSQL in May.", ""},
		{"an answer with markup", answers("**Billing** moves\nto PostgreSQL.\n", nil), "Billing moves to PostgreSQL.", ""},
		{"a failure", answers("", errors.New("connection refused")), "", "cannot summarize the text with the model: connection refused"},
		{"an empty answer", answers(" \n", nil), "", "cannot summarize the text with the model: the summary from the model is empty"},
		{"an excuse", answers("I'm sorry, but I can't help with that.", nil), "", "cannot summarize the text with the model: the summary from the model contains no key term of the text"},
		{"an answer that is too long", answers(strings.Repeat("x", 81), nil), "", "cannot summarize the text with the model: too many characters in the summary from the model: 81 (limit 80)"},
	} {
		got, err := summarizer.Ask(t.Context(), content, summarizer.KeyTerms(content, nil), c.model)
		why := ""
		if err != nil {
			why = err.Error()
		}
		if got != c.want || why != c.why {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, got, why, c.want, c.why)
		}
	}
}

// BenchmarkRemains is over a turn of a conversation, what a day of archiving takes in,
// and the longest text that a memory may have.
func BenchmarkRemains(b *testing.B) {
	var minutes strings.Builder
	for i := range 600 {
		fmt.Fprintf(&minutes, "Item %d: we decided on Monday to use PostgreSQL %d for the billing service of team %c, and Maria (who runs it) was glad. ",
			i, 10+i%7, 'A'+rune(i%26))
		if i%7 == 0 {
			minutes.WriteString("\n\n- What should the new backup server be called, and who is on duty? Nobody knew.\n")
		}
	}
	long := minutes.String()
	for _, c := range []struct {
		name    string
		texts   int
		content string
	}{
		{"turn", 1, long[:98]},
		{"100 notes", 100, long[:4000]},
		{"longest", 1, long[:50_000]},
		{"longest Chinese", 1, strings.Repeat("我们决定把数据库从MySQL迁移到PostgreSQL，因为计费服务需要更好的事务支持。", 1200)[:50_000*3/2]},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				for range c.texts {
					summarizer.Remains(c.content, []string{"PostgreSQL"})
				}
			}
		})
	}
}
