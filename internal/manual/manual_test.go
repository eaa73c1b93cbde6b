package manual_test

import (
	"strings"
	"testing"
	"time"

	"emberd/internal/manual"
)

func page() *manual.Page {
	return manual.New(&manual.Head{Name: "kettle-boil", Section: 1, Short: "boils water", Date: time.Date(2026, 3, 9, 23, 0, 0, 0, time.UTC), Source: "kettle 2.1"})
}

const top = `.TH "KETTLE\-BOIL" 1 "2026-03-09" "kettle 2.1" "emberd manual"
.nh
.ad l
.SH "NAME"
kettle\-boil \- boils water
`

func TestAPageIsWrittenAsRoffReadsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(*manual.Page)
		want  string
	}{
		"nothing but its head": {func(*manual.Page) {}, ""},
		"headings":             {func(p *manual.Page) { p.Heading(`The "tea"`); p.Subheading("Green") }, ".SH \"THE \\(dqTEA\\(dq\"\n.SS \"Green\"\n"},
		"synopsis":             {func(p *manual.Page) { p.Synopsis("kettle boil", "[flags]") }, "\\fBkettle boil\\fR [flags]\n"},
		"synopsis of nothing":  {func(p *manual.Page) { p.Synopsis("kettle", "") }, "\\fBkettle\\fR\n"},
		"sentences on their own lines": {func(p *manual.Page) { p.Text("Fill it.\nSwitch it on\nand wait.") },
			"Fill it.\nSwitch it on and wait.\n"},
		"paragraphs": {func(p *manual.Page) { p.Text("one\n\ntwo") }, "one\n.PP\ntwo\n"},
		"a list inside": {func(p *manual.Page) { p.Text("Levels:\n  low   .5 l\n  high  1 l\nand more") },
			"Levels:\n.RS 4\n.EX\nlow   .5 l\nhigh  1 l\n.EE\n.RE\nand more\n"},
		"what roff acts upon": {func(p *manual.Page) { p.Text(`.ssh is C:\dir, 'it' ^ ~ ` + "`") },
			"\\&.ssh is C:\\edir, \\(aqit\\(aq \\(ha \\(ti \\(ga\n"},
		"what ASCII has not": {func(p *manual.Page) { p.Text("tea… für 水 🫖") }, "tea.\\|.\\|.\\& f\\[u00FC]r \\[u6C34] \\[u1FAD6]\n"},
		"entries": {func(p *manual.Page) {
			p.Entry(manual.Term{Name: "-n, --limit", Value: "N"}, "at most N.")
			p.Entry(manual.Term{Name: "70"}, "a fault.")
		}, ".TP\n\\fB\\-n, \\-\\-limit\\fR \\fIN\\fR\nat most N.\n.TP\n\\fB70\\fR\na fault.\n"},
		"references": {func(p *manual.Page) { p.References([]string{"kettle(1)", "kettle-tab(5)"}) }, ".BR kettle (1),\n.BR kettle\\-tab (5)\n"},
	} {
		p := page()
		c.write(p)
		if got := string(p.Bytes()); got != top+c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, top+c.want)
		}
	}
}

func TestLinesOfTheSourceAreShort(t *testing.T) {
	t.Parallel()
	p := page()
	p.Text(strings.Repeat("kettle .d ", 60))
	for line := range strings.Lines(strings.TrimPrefix(string(p.Bytes()), top)) {
		if len(line) > 80 || strings.HasPrefix(line, ".") {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
}

func TestAPageWithoutADate(t *testing.T) {
	t.Parallel()
	p := manual.New(&manual.Head{Name: "kettle", Section: 1, Short: "boils"})
	if got, want := string(p.Bytes()), `.TH "KETTLE" 1 "" "" "emberd manual"`; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q first", got, want)
	}
}

func TestMarkdownBecomesEntries(t *testing.T) {
	t.Parallel()
	if err := page().Markdown([]byte("How *not* to.\n")); err == nil || !strings.Contains(err.Error(), "Emphasis") {
		t.Errorf("what a page cannot show ends with %v", err)
	}
	for _, c := range []struct{ name, source, want string }{
		{"paragraphs and a list", "Say `--hot`:\n\n1. fill\n2. boil\n   it\n\nand wait.\n",
			"Say \\fB\\-\\-hot\\fR:\n.IP 1. 4\nfill\n.IP 2. 4\nboil it\n.PP\nand wait.\n"},
		{"a table of terms", "## Taps\n\n| key | default | sets |\n|---|---|---|\n| `a`, `b` | none | `x\\|y`. Or not. |\n",
			".SH \"TAPS\"\n.TP\n\\fBa, b\\fR\n\\fBx|y\\fR.\nOr not.\n.br\ndefault: none\n"},
		{"a table of both", "| | here | there |\n|---|---|---|\n| tea | hot | .cold |\n",
			".TP\ntea\nhere: hot\n.br\nthere: .cold\n"},
	} {
		p := page()
		if err := p.Markdown([]byte(c.source)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := string(p.Bytes()); got != top+c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, top+c.want)
		}
	}
}
