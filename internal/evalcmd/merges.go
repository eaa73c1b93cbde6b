package evalcmd

import (
	"cmp"
	"context"
	"emberd/internal/cli"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/tempdaemon"
	"emberd/memory"
	"emberd/op"
)

type mergesOptions struct {
	cohesion float64
	show     int
	keep     bool
}

func (s *session) mergesCommand() *cobra.Command {
	var o mergesOptions
	cmd := &cobra.Command{
		Use:  "merges FILE…",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.measureMerges(cmd.Context(), &o, args) },
	}
	f := cmd.Flags()
	f.Float64Var(&o.cohesion, "cohesion", op.CohesionThreshold, "")
	f.IntVar(&o.show, "show", 0, "")
	f.BoolVar(&o.keep, "keep", false, "")
	return cmd
}

// mergesReport is what became of facts that were merged.
type mergesReport struct {
	Facts     int      `json:"facts"`
	Merges    int      `json:"merges"`
	Merged    int      `json:"merged"`    // facts that went into them
	Sentences int      `json:"sentences"` // of these facts
	Missing   []string `json:"missing"`   // sentences that are in no merged memory
	Loose     int      `json:"loose"`     // merged facts that are not archived with their text in a note
	Refused   int      `json:"refused"`   // clusters that are left apart
	Undone    bool     `json:"undone"`    // undoing gave the memories as they were before
	Shown     []merge  `json:"shown,omitempty"`
}

// merge is what was made of several facts.
type merge struct {
	Cohesion float64  `json:"cohesion"`
	Facts    []string `json:"facts"`
	Into     string   `json:"into"`
}

// fact is a line of a file of facts.
type fact struct {
	Text string `json:"text"`
	Conv string `json:"conv"`
}

func readFacts(names []string) (facts []fact, err error) {
	for _, name := range names {
		more, err := readLines(name, "fact; give a text", func(f *fact) bool { return f.Text != "" })
		if err != nil {
			return nil, err
		}
		facts = append(facts, more...)
	}
	return facts, nil
}

func (s *session) measureMerges(ctx context.Context, o *mergesOptions, files []string) error {
	facts, err := readFacts(files)
	if err != nil {
		return err
	}
	if err := cmp.Or(memory.CheckRange("cohesion", o.cohesion, 0, 1), memory.CheckRange("show", float64(o.show), 0,
		1000)); err != nil {
		return err
	}
	m := &factMerging{s: s, o: o, texts: make(map[memory.ID][]string), report: mergesReport{Facts: len(facts),
		Missing: []string{}}}
	if err := s.inHome(o.keep, func(home string) error { return m.measure(ctx, home, facts) }); err != nil {
		return err
	}
	r := &m.report
	slices.SortStableFunc(r.Shown, func(a, b merge) int { return cmp.Compare(a.Cohesion, b.Cohesion) })
	r.Shown = r.Shown[:min(o.show, len(r.Shown))]
	if s.json {
		err = s.printJSON(r)
	} else {
		s.printMerges(r)
	}
	switch {
	case err != nil:
		return err
	case r.Merges == 0 || !r.Undone || len(r.Missing) > 0 || r.Loose > 0:
		return errIncomplete
	}
	return nil
}

// factMerging is a run through a daemon.
type factMerging struct {
	s      *session
	o      *mergesOptions
	daemon *tempdaemon.Daemon
	texts  map[memory.ID][]string // of a memory, the facts that went into it
	report mergesReport
}

func (m *factMerging) measure(ctx context.Context, home string, facts []fact) (err error) {
	notes := filepath.Join(home, "notes")
	if err := os.Mkdir(notes, 0o700); err != nil {
		return err
	}
	return m.s.withDaemon(ctx, home, []string{"--vault", notes}, func(d *tempdaemon.Daemon) error {
		m.daemon = d
		return m.all(ctx, facts)
	})
}

func (m *factMerging) all(ctx context.Context, facts []fact) error {
	if err := m.save(ctx, facts); err != nil {
		return err
	}
	before, err := stateOf(ctx, m.daemon)
	if err != nil {
		return err
	}
	entries, err := m.merge(ctx)
	if err != nil {
		return err
	}
	if err := m.loose(ctx); err != nil {
		return err
	}
	for _, tx := range slices.Backward(entries) {
		if _, err := op.Undo.Call(ctx, m.daemon, &op.UndoRequest{Tx: tx}); err != nil {
			return err
		}
	}
	after, err := stateOf(ctx, m.daemon)
	m.report.Undone = err == nil && maps.Equal(before, after)
	return err
}

func (m *factMerging) save(ctx context.Context, facts []fact) error {
	for chunk := range slices.Chunk(facts, op.MaxBatch) {
		items := make([]op.SaveRequest, len(chunk))
		for i, f := range chunk {
			items[i] = op.SaveRequest{Content: f.Text, Collection: f.Conv, Again: true, AllowSecret: true}
		}
		res, err := op.SaveBatch.Call(ctx, m.daemon, &op.SaveBatchRequest{Items: items})
		if err != nil {
			return err
		}
		for i, a := range res.Results {
			if a.Error != nil {
				return memory.Errorf(memory.Invalid, "fact %d cannot be saved: %s", i+1, a.Error.Detail)
			}
			m.texts[a.ID] = []string{chunk[i].Text}
		}
	}
	return nil
}

// merge merges until no cluster is left that can be, and returns the journal entries.
func (m *factMerging) merge(ctx context.Context) (entries []string, err error) {
	for {
		would, err := op.Consolidate.Call(ctx, m.daemon, m.request(op.ModePreview))
		if err != nil {
			return nil, err
		}
		cohesion := make(map[string]float64)
		for _, p := range would.Previews {
			cohesion[p.ClusterID] = p.Cohesion
		}
		res, err := op.Consolidate.Call(ctx, m.daemon, m.request(op.ModeApply))
		if err != nil {
			return nil, err
		}
		m.report.Refused = len(res.Refused)
		if len(res.Merged) == 0 {
			return entries, nil
		}
		entries = append(entries, res.Tx)
		for _, one := range res.Merged {
			if err := m.look(ctx, &one, cohesion[one.ClusterID]); err != nil {
				return nil, err
			}
		}
	}
}

func (m *factMerging) request(mode string) *op.ConsolidateRequest {
	return &op.ConsolidateRequest{AutoDetect: true, Mode: mode, CohesionThreshold: &m.o.cohesion,
		Limit: memory.MaxResults}
}

// look reads a merged memory, and holds its text against that of its facts.
func (m *factMerging) look(ctx context.Context, one *op.MergedCluster, cohesion float64) error {
	res, err := op.Show.Call(ctx, m.daemon, &op.ShowRequest{ID: string(one.NewMemoryID), Track: new(bool)})
	if err != nil {
		return err
	}
	var facts []string
	for _, id := range one.SourceIDs {
		facts = append(facts, m.texts[id]...)
	}
	m.texts[one.NewMemoryID] = facts
	missing, sentences := missingOf(res.Memory.Content, facts)
	m.report.Merges, m.report.Merged = m.report.Merges+1, m.report.Merged+len(one.SourceIDs)
	m.report.Sentences += sentences
	m.report.Missing = append(m.report.Missing, missing...)
	m.report.Shown = append(m.report.Shown, merge{cohesion, facts, res.Memory.Content})
	return nil
}

// missingOf lists the sentences of facts that do not stand in a text, in any case.
func missingOf(text string, facts []string) (missing []string, all int) {
	text = strings.ToLower(text)
	for _, f := range facts {
		for sentence := range strings.SplitAfterSeq(strings.TrimSpace(f), ". ") {
			if all++; !strings.Contains(text, strings.ToLower(strings.TrimSpace(sentence))) {
				missing = append(missing, sentence)
			}
		}
	}
	return missing, all
}

// loose counts merged memories that are neither archived with their text in a note nor
// part of the next merge.
func (m *factMerging) loose(ctx context.Context) error {
	for id := range m.texts {
		res, err := op.Show.Call(ctx, m.daemon, &op.ShowRequest{ID: string(id), Track: new(bool)})
		if err != nil {
			return err
		}
		if into := res.Memory.ConsolidatedInto; into != "" && (!res.Memory.Stage.Cold() ||
			res.Memory.VaultPath == "" || m.texts[into] == nil) {
			m.report.Loose++
		}
	}
	return nil
}

// stateOf is what an export says of the memories that are live, without counters.
func stateOf(ctx context.Context, daemon op.Invoker) (map[memory.ID]string, error) {
	out := make(map[memory.ID]string)
	req := &op.ExportRequest{}
	for first := true; first || req.Cursor != ""; first = false {
		page, err := op.Export.Call(ctx, daemon, req)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Records {
			if !r.Forgotten.IsZero() {
				continue
			}
			maps.DeleteFunc(r.Fields, func(key string, _ json.RawMessage) bool { return op.IsCounter(key) })
			raw, err := json.Marshal(r.Fields)
			if err != nil {
				return nil, err
			}
			out[r.ID] = string(op.Canonical(raw))
		}
		req.Cursor = page.NextCursor
	}
	return out, nil
}

func (s *session) printMerges(r *mergesReport) {
	s.printf("%s, of which %s became %s; %s left apart\n", cli.Count(r.Facts, "fact", "facts"), cli.Grouped(r.Merged),
		cli.Count(r.Merges, "merge", "merges"),
		cli.Count(r.Refused, "cluster", "clusters"))
	s.printf("%d of %s missing in what was merged\n", len(r.Missing), cli.Count(r.Sentences, "sentence", "sentences"))
	if r.Loose > 0 {
		s.printf("%s not archived with the text in a note\n", cli.Count(r.Loose, "merged fact", "merged facts"))
	}
	if r.Merges > 0 {
		s.printf("undone: %s\n", map[bool]string{true: "as before", false: "not as before"}[r.Undone])
	}
	for _, m := range r.Shown {
		s.printf("\n%s\n", fmt.Sprintf("cohesion %.3f", m.Cohesion))
		for _, f := range m.Facts {
			s.printf("  %s\n", cli.Flat(f))
		}
	}
}
