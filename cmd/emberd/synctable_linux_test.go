package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

// fromDifference cuts two texts to what begins a little before they differ.
func fromDifference(a, b string) (string, string) {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	at = max(0, at-60)
	return a[at:], b[at:]
}

// fieldsOf are the fields in which two records differ.
func fieldsOf(a, b op.Record) (names []string) {
	all := maps.Clone(a.Fields)
	maps.Copy(all, b.Fields)
	for name := range all {
		if string(a.Fields[name]) != string(b.Fields[name]) {
			names = append(names, name)
		}
	}
	return names
}

// findings counts what each daemon finds wrong.
func (p *pair) findings(t *testing.T) {
	t.Helper()
	for _, d := range p.devices {
		kinds := map[string]int{}
		for _, f := range d.check(t) {
			kinds[f.Kind]++
		}
		status, err := op.Status.Call(t.Context(), d.client, &op.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		p.row("findings of vault check on "+d.name, "%v", kinds)
		p.row("health of "+d.name, "%s %q", status.Health, status.Warnings)
	}
}

// latency tells how long saves took until the other device answered with them.
func (p *pair) latency() {
	var calm, all []time.Duration
	never := 0
	for _, s := range p.saved {
		if s.seen.IsZero() {
			never++
			continue
		}
		all = append(all, s.seen.Sub(s.at))
		if p.calm(s.at, s.seen) {
			calm = append(calm, s.seen.Sub(s.at))
		}
	}
	for what, took := range map[string][]time.Duration{"without trouble": calm, "all": all} {
		p.row("save to visible, "+what+": n, p50, p99", "%d, %s, %s", len(took), quantile(took, 50), quantile(took, 99))
	}
	p.row("not yet visible when the work ended", "%d", never)
	for _, what := range slices.Sorted(maps.Keys(p.calls)) {
		p.row(what, "%d", p.calls[what])
	}
	for _, what := range slices.Sorted(maps.Keys(p.refused)) {
		p.row("  "+what, "%d", p.refused[what])
	}
}

// calm reports whether no trouble was near.
func (p *pair) calm(from, to time.Time) bool {
	if len(p.quiet) == 0 {
		return true
	}
	return to.Before(p.quiet[0]) || from.After(p.quiet[len(p.quiet)-1].Add(5*time.Second))
}

func quantile(of []time.Duration, percent int) time.Duration {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[min(len(of)-1, len(of)*percent/100)].Round(10 * time.Millisecond)
}

// beside describes a copy and what it is a copy of: their texts, the memory, and what vault check says.
func (d *device) beside(t *testing.T, notes map[string]string, copied string) string {
	t.Helper()
	m := carriedID.FindStringSubmatch(copied)
	if m == nil {
		return "it has no memory's ID"
	}
	var b strings.Builder
	r := d.export(t)[memory.ID(m[1])]
	fmt.Fprintf(&b, "%q\nof memory %s, forgotten %v: %s", copied, r.ID, r.Forgotten, asText(t, r.Fields))
	for name, text := range notes {
		if text != copied && strings.Contains(text, m[1]) {
			fmt.Fprintf(&b, "\nnote %s: %q", name, text)
		}
	}
	for _, f := range d.check(t) {
		fmt.Fprintf(&b, "\n%s %s: %s", f.Kind, f.Path, f.Text)
	}
	return b.String()
}

// trail is what happened to a memory: its versions, and what both daemons logged about it.
func (p *pair) trail(t *testing.T, id memory.ID) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "\nhistory %s", p.devices[0].history(t, id))
	for _, d := range p.devices {
		log, err := os.ReadFile(d.home + ".log")
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, string(id)) {
				fmt.Fprintf(&b, "\n%s: %s", d.name, strings.TrimSpace(line))
			}
		}
	}
	return b.String()
}

// check is what vault check finds.
func (d *device) check(t *testing.T) []op.Finding {
	t.Helper()
	res, err := op.VaultCheck.Call(t.Context(), d.client, &op.VaultCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Findings
}

// hasNewValue reports whether a copy has a property with a value that its memory never had.
func (d *device) hasNewValue(t *testing.T, name string) bool {
	t.Helper()
	return slices.ContainsFunc(d.check(t), func(f op.Finding) bool {
		return f.Path == name && strings.Contains(f.Text, "the memory never had")
	})
}
