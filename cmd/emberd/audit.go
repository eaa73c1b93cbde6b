package main

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

// auditOptions are the flags of audit.
type auditOptions struct {
	req                                 op.AuditRequest
	log, reads, writes, merges, forgets bool
	forgive                             string
}

func (s *state) auditCommand() *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Tell who read, wrote, merged and forgot what",
		Long: `Tell for each caller how much it was given, how much of what searches gave it
was used within a day, and how many of its saves came to nothing. A caller is a
capability token; or the name that a client claims for itself; or else the way
that it came. A rate is shown from 50 memories, or 20 saves, on, with the
interval that holds it with 95 % confidence.

With --log, or --reads and its like, list what was read and changed, the latest
first. Changes are from the journal, of all devices; callers and reads are
counted on this device, in whole days (UTC), for 90 days. Neither has a text or
a query.

A caller whose score is below audit.throttle_below is slowed down, until what it
did is 30 days old or you forgive it.`,
		Example: `  emberd audit --since 7d
  emberd audit --log --caller cursor
  emberd audit --memory 456789ab
  emberd audit --forgive cursor`,
		Annotations: exits(endings{exitNothing: "nothing was counted or listed, or there is no such caller or memory", exitNoDaemon: "", exitLocked: ""}),
		Args:        takes(0, 0, ""),
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.audit(cmd, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.req.Since, "since", "", "from this `TIME` on, as in 12h, 7d or 2026-01-31; default 30d")
	f.StringVar(&o.req.Caller, "caller", "", "only of the caller `NAME`")
	f.StringVar(&o.req.Memory, "memory", "", "list what was done with the memory `ID`")
	f.BoolVar(&o.log, "log", false, "list reads and changes, the latest first")
	f.BoolVar(&o.reads, "reads", false, "list reads alone")
	f.BoolVar(&o.writes, "writes", false, "list changes other than these two alone")
	f.BoolVar(&o.merges, "merges", false, "list merges alone")
	f.BoolVar(&o.forgets, "forgets", false, "list alone what was forgotten, collected and purged")
	f.IntVarP(&o.req.Limit, "limit", "n", 20, "at most `N` reads and changes, 1 to 100")
	f.StringVar(&o.req.Cursor, "cursor", "", "go on after `CURSOR`, the next_cursor of --json")
	f.StringVar(&o.forgive, "forgive", "", "judge the caller `NAME` anew, from nothing")
	return cmd
}

func (s *state) audit(cmd *cobra.Command, o *auditOptions) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	if cmd.Flags().Changed("forgive") {
		return s.forgiveCaller(cmd, o.forgive)
	}
	res, err := reach(cmd.Context(), s, op.Audit, &o.req)
	if err != nil {
		return err
	}
	listed := o.req.Kind != "" || o.req.Memory != "" || o.req.Cursor != ""
	n := len(res.Callers)
	if listed {
		n = len(res.Events)
	}
	return s.found(res, n, func() {
		if listed {
			s.printAuditEvents(res)
		} else {
			s.printAudit(res)
		}
	})
}

// check turns flags into a request.
func (o *auditOptions) check(cmd *cobra.Command) error {
	if err := checkLimit(cmd, o.req.Limit); err != nil {
		return err
	}
	kinds := map[string]bool{op.AuditAll: o.log, op.AuditRead: o.reads, op.AuditWrite: o.writes, op.AuditMerge: o.merges, op.AuditForget: o.forgets}
	for kind, chosen := range kinds {
		switch {
		case !chosen:
		case o.req.Kind != "":
			return wrong(cmd, "--log, --reads, --writes, --merges and --forgets exclude each other; leave all but one out")
		default:
			o.req.Kind = kind
		}
	}
	return nil
}

func (s *state) forgiveCaller(cmd *cobra.Command, name string) error {
	res, err := reach(cmd.Context(), s, op.AuditForgive, &op.AuditForgiveRequest{Caller: name})
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(res)
	}
	s.printf("%s is judged anew\n", flat(res.Name))
	if res.Was != "" {
		s.printf("%s", s.screen.said(faint, "it was slowed down: "+clean(res.Was)))
	}
	return nil
}

// Columns of the table of callers.
const (
	auditBar     = 6
	auditName    = 22 // at most, where there is room for it
	auditColumns = "%s  %-6s %6s %6s  %s  %6s %5s\n"
	// auditRateWidth is that of a bar, a rate, its interval and what it is of.
	auditRateWidth = auditBar + len(" 71% 97–100% of 12,345") - 2
	auditRest      = 2 + 6 + 1 + 6 + 1 + 6 + 2 + auditRateWidth + 2 + 6 + 1 + 5
)

func (s *state) printAudit(r *op.AuditResult) {
	if r.Problem != "" {
		s.note("%s", clean(r.Problem))
	}
	if len(r.Callers) == 0 {
		s.note("no caller was counted since %s", r.Since.In(s.zone).Format("2006-01-02"))
		return
	}
	width := len("CALLER")
	for i := range r.Callers {
		width = max(width, uniseg.StringWidth(callerName(r.Callers[i].Name, r.Callers[i].Kind)))
	}
	if width = min(width, auditName); s.screen.width > 0 {
		width = min(width, max(len("CALLER"), s.screen.width-auditRest))
	}
	head := fmt.Sprintf(auditColumns, pad("CALLER", width), "SEEN", "CALLS", "TOKENS", pad("USED OF WHAT IT RECALLED", auditRateWidth), "SAVED", "JUNK")
	s.printf("%s", s.screen.paint(faint, strings.TrimRight(head, "\n"))+"\n")
	for i := range r.Callers {
		s.printAuditCaller(&r.Callers[i], width)
	}
	s.note("counted on this device since %s; who is claimed, or has a ?, says so itself", r.Counted.In(s.zone).Format("2006-01-02"))
}

func (s *state) printAuditCaller(c *op.AuditCaller, width int) {
	name := pad(nameWithin(c, width), width)
	saved, junk := "–", "–"
	if c.Saved > 0 {
		saved = grouped(int(c.Saved))
	}
	if c.JunkRate != nil {
		junk = share(c.JunkRate.Rate)
	} else if c.Junk > 0 {
		junk = fmt.Sprintf("%d×", c.Junk)
	}
	s.printf(auditColumns, s.screen.paint(bold, name), age(s.now(), c.Seen), short(c.Calls), short(c.Tokens), s.auditRate(c), saved, junk)
	if c.Throttled != "" {
		s.printf("%s", s.screen.said(yellow, fmt.Sprintf("slowed down: %s; emberd audit --forgive %s ends that", clean(c.Throttled), quotedWord(c.Name))))
	}
}

// auditRate draws how much of what was recalled was used.
func (s *state) auditRate(c *op.AuditCaller) string {
	switch {
	case c.Precision != nil:
		text := fmt.Sprintf(" %4s %s", share(c.Precision.Rate), pad(fmt.Sprintf("%.0f–%.0f%%", 100*c.Precision.Low, 100*c.Precision.High), len("97–100%")-2))
		return s.screen.paint(cyan, bar(c.Precision.Rate, auditBar)) + pad(text+" of "+short(c.Recalled), auditRateWidth-auditBar)
	case c.Recalled > 0:
		return s.screen.paint(faint, pad(fmt.Sprintf("%d of %d: too few to say", c.Used, c.Recalled), auditRateWidth))
	case c.Undecided > 0:
		return s.screen.paint(faint, pad(short(c.Undecided)+" may still be used", auditRateWidth))
	}
	return pad("–", auditRateWidth)
}

func share(of float64) string { return fmt.Sprintf("%.0f%%", 100*of) }

// short writes a number in at most six columns.
func short(n int64) string {
	switch {
	case n < 100_000:
		return grouped(int(n))
	case n < 10_000_000:
		return grouped(int(n/1000)) + "k"
	}
	return grouped(int(n/1_000_000)) + "M"
}

// callerName is a caller as people read it.
func callerName(name, kind string) string {
	switch kind {
	case "claimed", "token":
		return flat(name) + " (" + kind + ")"
	case "others":
		return "all others"
	}
	return flat(name)
}

// nameWithin is a caller in so many columns. The kind is not cut off: a claim is marked by
// a question mark where there is no room for the word.
func nameWithin(c *op.AuditCaller, width int) string {
	whole := callerName(c.Name, c.Kind)
	if uniseg.StringWidth(whole) <= width || c.Kind != "claimed" {
		return cut(whole, width)
	}
	return cut(flat(c.Name), width-1) + "?"
}

// quotedWord is a name as it can be typed into a shell.
func quotedWord(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" {
		return name
	}
	return quoted(flat(name))
}

func (s *state) printAuditEvents(r *op.AuditResult) {
	if len(r.Events) == 0 {
		s.note("nothing of that was done since %s", r.Since.In(s.zone).Format("2006-01-02"))
	} else {
		s.printf("%s\n", s.screen.paint(faint, "WHEN         WHAT            WHO                     MEMORIES"))
	}
	for i := range r.Events {
		s.printAuditEvent(&r.Events[i])
	}
	if r.NextCursor != "" {
		s.note("earlier ones: --cursor %s", quoted(r.NextCursor))
	}
}

func (s *state) printAuditEvent(e *op.AuditEvent) {
	const used = 12 + 1 + 15 + 1 + 23 + 1
	colour := map[string]style{op.AuditRead: "", op.AuditWrite: green, op.AuditMerge: cyan, op.AuditForget: red}[e.Kind]
	what := s.screen.paint(colour, pad(cut(flat(e.What), 15), 15))
	line := fmt.Sprintf("%s %s %s ", pad(ago(s.now(), e.At), 12), what, pad(cut(callerName(e.Caller, e.Of), 23), 23))
	end := ""
	if e.Undone {
		end = "  undone"
	}
	s.printf("%s%s%s\n", line, s.someIDs(e.IDs, e.Count, used+len(end)), s.screen.paint(red, end))
}

// someIDs are as many short ids as there is room for.
func (s *state) someIDs(ids []memory.ID, count, used int) string {
	most := 5
	if s.screen.width > 0 {
		most = max(1, (s.screen.width-used-len(" +100"))/len("456789ab "))
	}
	var out []string
	for _, id := range ids[:min(most, len(ids))] {
		out = append(out, s.short(id))
	}
	if more := count - len(out); more > 0 && len(out) > 0 {
		out = append(out, s.screen.paint(faint, "+"+grouped(more)))
	}
	if len(out) == 0 {
		return s.screen.paint(faint, "notes alone")
	}
	return strings.Join(out, " ")
}
