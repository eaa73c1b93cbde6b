package evalcmd

import (
	"emberd/engine"
	"emberd/internal/cli"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/dedupe/contradiction"
	"emberd/internal/dedupe/similarity"
	"emberd/internal/text/analysis"
)

func (s *session) evolutionCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "evolution FILE",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cases, err := readEvolution(args[0])
			if err != nil {
				return err
			}
			r := evolve(cases)
			if s.json {
				return s.printJSON(r)
			}
			s.printEvolution(r)
			return nil
		},
	}
}

// evolution is what is known at first, and what is learned after that.
type evolution struct {
	ID       string   `json:"id"`
	Memories []string `json:"seed_memories"`
	Document string   `json:"seed_document"`
	Rounds   []struct {
		Fact       string `json:"fact"`
		Supersedes string `json:"supersedes"`
	} `json:"rounds"`
}

func readEvolution(name string) ([]evolution, error) {
	return readLines(name, "case; give rounds with a fact each", func(c *evolution) bool { return len(c.Rounds) > 0 })
}

// evolutionReport is what became of all rounds.
type evolutionReport struct {
	Cases       int           `json:"cases"`
	Superseding int           `json:"superseding"`  // rounds that replace something
	Unknown     int           `json:"unknown"`      // of these, those of which nothing known is stale
	Noticed     int           `json:"noticed"`      // conflicts with what is stale
	Nearest     int           `json:"nearest"`      // what is stale is the most similar text
	Others      int           `json:"others"`       // rounds that replace nothing
	FalseAlarms int           `json:"false_alarms"` // of these, those that are told to conflict
	Merged      int           `json:"merged"`       // silently, of all that supersede
	Rounds      []evolveRound `json:"rounds"`
}

type evolveRound struct {
	Case       string                  `json:"case"`
	Fact       string                  `json:"fact"`
	Supersedes bool                    `json:"supersedes"`
	Stale      bool                    `json:"stale"` // something known says what is superseded
	Noticed    bool                    `json:"noticed"`
	Nearest    bool                    `json:"nearest"`
	Merged     bool                    `json:"merged"`
	Conflicts  []contradiction.Finding `json:"conflicts,omitempty"`
}

func evolve(cases []evolution) *evolutionReport {
	r := &evolutionReport{Cases: len(cases)}
	analyzer := analysis.New()
	for i := range cases {
		c := &cases[i]
		known := append(append([]string{}, c.Memories...), passagesOf(c.Document)...)
		for _, round := range c.Rounds {
			w := newWorld(analyzer, known, round.Fact, round.Supersedes)
			r.add(w.round(c.ID, round.Supersedes != ""))
			known = append(known, round.Fact)
		}
	}
	return r
}

func (r *evolutionReport) add(e evolveRound) {
	r.Rounds = append(r.Rounds, e)
	one := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	one(&r.Merged, e.Merged && e.Supersedes)
	if !e.Supersedes {
		r.Others++
		one(&r.FalseAlarms, len(e.Conflicts) > 0)
		return
	}
	r.Superseding++
	one(&r.Unknown, !e.Stale)
	one(&r.Noticed, e.Noticed)
	one(&r.Nearest, e.Nearest)
}

// world is what is known when a fact comes.
type world struct {
	fact   *contradiction.Facts
	says   string
	known  []*contradiction.Facts
	alike  []float64 // each of what is known to the fact
	stale  []bool
	anyOld bool
}

// sameClaim is how similar a known text is at least to what is superseded if it says that.
const sameClaim = 0.5

func newWorld(a *analysis.Analyzer, known []string, fact, old string) *world {
	corpus := similarity.NewCorpus(a)
	bags := make([]similarity.TermVector, len(known))
	for i, k := range known {
		bags[i] = corpus.Add(k)
	}
	now, before := corpus.Add(fact), corpus.Add(old)
	w := &world{fact: contradiction.Of(a, fact), says: fact}
	for i, k := range known {
		v := corpus.Vector(bags[i])
		w.known = append(w.known, contradiction.Of(a, k))
		w.alike = append(w.alike, similarity.Calibrate(v.Cosine(corpus.Vector(now))))
		is := old != "" && similarity.Calibrate(v.Cosine(corpus.Vector(before))) >= sameClaim
		w.stale, w.anyOld = append(w.stale, is), w.anyOld || is
	}
	return w
}

func (w *world) round(id string, supersedes bool) evolveRound {
	e := evolveRound{Case: id, Fact: w.says, Supersedes: supersedes, Stale: w.anyOld}
	nearest := 0
	for i, k := range w.known {
		if w.alike[i] > w.alike[nearest] {
			nearest = i
		}
		if found := w.fact.Against(k, w.alike[i], contradiction.Related); found != nil {
			e.Conflicts = append(e.Conflicts, found...)
			e.Noticed = e.Noticed || w.stale[i]
		}
	}
	if len(w.known) > 0 {
		k := w.known[nearest]
		e.Nearest = w.stale[nearest]
		e.Merged = w.alike[nearest] >= engine.DefaultOptions().Known.Add && k.Differ(w.fact) == "" &&
			w.fact.Adds(k) == ""
	}
	return e
}

// passagesOf takes a note apart: sentences, items of lists, and the rows of tables with
// the column's name before each cell. Code and headings say nothing.
func passagesOf(note string) (out []string) {
	var columns, paragraph []string
	code := false
	end := func() {
		for sentence := range strings.SplitSeq(strings.Join(paragraph, " "), ". ") {
			if sentence != "" {
				out = append(out, sentence)
			}
		}
		paragraph = nil
	}
	for line := range strings.Lines(note) {
		line = strings.TrimSpace(line)
		row := strings.HasPrefix(line, "|")
		if row || line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "```") {
			end()
		}
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code || strings.HasPrefix(line, "#") || row && !strings.ContainsFunc(line, isAlnum):
		case row && columns == nil:
			columns = cells(line)
		case row:
			out = append(out, rowText(columns, cells(line)))
		case line == "":
			columns = nil
		default:
			columns = nil
			paragraph = append(paragraph, strings.TrimLeft(line, "-> "))
		}
	}
	end()
	return out
}

func isAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 127
}

func cells(row string) []string {
	out := strings.Split(strings.Trim(row, "|"), "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

func rowText(columns, row []string) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(", ")
			if i < len(columns) {
				b.WriteString(columns[i] + " ")
			}
		}
		b.WriteString(cell)
	}
	return b.String()
}

func (s *session) printEvolution(r *evolutionReport) {
	for i := range r.Rounds {
		e := &r.Rounds[i]
		word := "adds"
		switch {
		case e.Supersedes && e.Noticed:
			word = "noticed"
		case e.Supersedes && !e.Stale:
			word = "nothing stale"
		case e.Supersedes:
			word = "missed"
		case len(e.Conflicts) > 0:
			word = "false alarm"
		}
		s.printf("%-13s  %s\n", word, cli.Flat(e.Fact))
		for _, c := range e.Conflicts {
			s.printf("%15s%s: %s\n", "", c.Kind, cli.Flat(c.Why))
		}
	}
	s.printf("%d of %s noticed; %d replace what nothing known says; in %d what is stale is nearest\n", r.Noticed,
		cli.Count(r.Superseding, "superseding fact", "superseding facts"), r.Unknown, r.Nearest)
	s.printf("%s in %s that replace nothing; %d merged silently\n", cli.Count(r.FalseAlarms, "false alarm",
		"false alarms"), cli.Count(r.Others, "round", "rounds"), r.Merged)
}
