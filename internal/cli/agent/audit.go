package agent

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// auditOptions are the flags of audit.
type auditOptions struct {
	req                                 op.AuditRequest
	log, reads, writes, merges, forgets bool
	forgive                             string
}

func AuditCommand(s *cli.App) *cobra.Command {
	var o auditOptions
	cmd := cli.Command("audit", cli.NoArgs, nil,
		func(cmd *cobra.Command, _ []string) error { return audit(s, cmd, &o) })
	f := cmd.Flags()
	cli.Bind(f, &o.req, "since", "caller", "memory", "limit,n=20", "cursor")
	f.BoolVar(&o.log, "log", false, "")
	f.BoolVar(&o.reads, "reads", false, "")
	f.BoolVar(&o.writes, "writes", false, "")
	f.BoolVar(&o.merges, "merges", false, "")
	f.BoolVar(&o.forgets, "forgets", false, "")
	f.StringVar(&o.forgive, "forgive", "", "")
	f.BoolVar(&o.req.Check, "check", false, "")
	return cmd
}

func audit(s *cli.App, cmd *cobra.Command, o *auditOptions) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	if cmd.Flags().Changed("forgive") {
		return forgiveCaller(s, cmd, o.forgive)
	}
	res, err := cli.Reach(cmd.Context(), s, op.Audit, &o.req)
	if err != nil {
		return err
	}
	if o.req.Check {
		return auditChecked(s, res)
	}
	listed := o.req.Kind != "" || o.req.Memory != "" || o.req.Cursor != ""
	n := len(res.Callers)
	if listed {
		n = len(res.Events)
	}
	return s.Found(res, n, func() {
		if listed {
			if o.req.Caller != "" && len(res.Callers) > 0 {
				printAudit(s, res)
				s.Printf("\n")
			}
			printAuditEvents(s, res)
		} else {
			printAudit(s, res)
		}
	})
}

// auditChecked prints what a check found. Problems are exit code 1, and so is nothing to check.
func auditChecked(s *cli.App, r *op.AuditResult) error {
	c := r.Check
	whole := 0
	if len(c.Problems) == 0 {
		whole = c.Lines
	}
	return s.Found(r, whole, func() {
		for _, problem := range c.Problems {
			s.Printf("%s\n", s.Screen.Paint(cli.Red, cli.Clean(problem)))
		}
		switch {
		case c.Lines == 0 && len(c.Problems) == 0:
			s.Printf("nothing to check: the audit log of this device is empty\n")
		case c.Lines == 0:
			s.Printf("no line of the audit log is valid\n")
		default:
			s.Printf("audit log: %s valid, since %s\n", cli.Count(c.Lines, "line", "lines"),
				c.Since.In(s.Zone).Format("2006-01-02 15:04"))
		}
		for _, note := range c.Notes {
			s.Note("%s", cli.Clean(note))
		}
		if c.Unkeyed > 0 {
			s.Note("%s older than the audit log and not verified", cli.Count(c.Unkeyed, "read is", "reads are"))
		}
		if len(c.Problems) > 0 {
			s.Note("%s", tampered)
		}
	})
}

const tampered = `another program changed the log or the state folder, or the disk lost a part of them
if you did not cause the change: copy both folders, and find out which programs can write to them
if you or an emberd version without the audit log caused the change: stop emberd, and remove the
folder audit in the state folder; emberd then starts a new chain, which covers no earlier records`

// check turns flags into a request.
func (o *auditOptions) check(cmd *cobra.Command) error {
	if err := cli.CheckLimit(cmd, o.req.Limit); err != nil {
		return err
	}
	kinds := map[string]bool{op.AuditAll: o.log, op.AuditRead: o.reads, op.AuditWrite: o.writes,
		op.AuditMerge: o.merges, op.AuditForget: o.forgets}
	for kind, chosen := range kinds {
		switch {
		case !chosen:
		case o.req.Kind != "":
			return cli.UsageError(cmd, "--log, --reads, --writes, --merges and --forgets cannot be combined")
		default:
			o.req.Kind = kind
		}
	}
	return nil
}

func forgiveCaller(s *cli.App, cmd *cobra.Command, name string) error {
	res, err := cli.Reach(cmd.Context(), s, op.AuditForgive, &op.AuditForgiveRequest{Caller: name})
	if err != nil {
		return err
	}
	return s.Answer(res, func() {
		s.Printf("reset the throttling score of %s\n", cli.Flat(res.Name))
		if res.Was != "" {
			s.Printf("%s", s.Screen.Said(cli.Faint, "the caller was throttled: "+cli.Clean(res.Was)))
		}
	})
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

func printAudit(s *cli.App, r *op.AuditResult) {
	if r.Problem != "" {
		s.Note("%s", cli.Clean(r.Problem))
	}
	if len(r.Callers) == 0 {
		s.Note("no activity since %s", r.Since.In(s.Zone).Format("2006-01-02"))
		return
	}
	width := len("CALLER")
	for i := range r.Callers {
		width = max(width, uniseg.StringWidth(callerName(r.Callers[i].Name, r.Callers[i].Kind)))
	}
	if width = min(width, auditName); s.Screen.Width > 0 {
		width = min(width, max(len("CALLER"), s.Screen.Width-auditRest))
	}
	head := fmt.Sprintf(auditColumns, cli.Pad("CALLER", width), "SEEN", "CALLS", "TOKENS",
		cli.Pad("USED OF ITS RESULTS", auditRateWidth), "SAVED", "JUNK")
	s.Printf("%s", s.Screen.Paint(cli.Faint, strings.TrimRight(head, "\n"))+"\n")
	for i := range r.Callers {
		printAuditCaller(s, &r.Callers[i], width)
	}
	s.Note("the counts are from this device, since %s; \"?\" marks a name that the client reported",
		r.Counted.In(s.Zone).Format("2006-01-02"))
}

func printAuditCaller(s *cli.App, c *op.AuditCaller, width int) {
	name := cli.Pad(nameWithin(c.Name, c.Kind, width), width)
	saved, junk := "–", "–"
	if c.Saved > 0 {
		saved = cli.Grouped(int(c.Saved))
	}
	if c.JunkRate != nil {
		junk = share(c.JunkRate.Rate)
	} else if c.Junk > 0 {
		junk = fmt.Sprintf("%d×", c.Junk)
	}
	s.Printf(auditColumns, s.Screen.Paint(cli.Bold, name), cli.Age(s.Now(), c.Seen), short(c.Calls), short(c.Tokens),
		auditRate(s, c), saved, junk)
	if c.Throttled != "" {
		s.Printf("%s", s.Screen.Said(cli.Yellow, "slowed down: "+cli.Clean(c.Throttled)))
		s.Printf("  to stop throttling, run: emberd audit --forgive %s\n", quotedWord(c.Kind+":"+c.Name))
	}
}

// auditRate draws how much of what was recalled was used.
func auditRate(s *cli.App, c *op.AuditCaller) string {
	switch {
	case c.Precision != nil:
		text := fmt.Sprintf(" %4s %s", share(c.Precision.Rate),
			cli.Pad(fmt.Sprintf("%.0f–%.0f%%", 100*c.Precision.Low, 100*c.Precision.High), len("97–100%")-2))
		return s.Screen.Paint(cli.Cyan, cli.Bar(c.Precision.Rate, auditBar)) + cli.Pad(text+" of "+short(c.Recalled),
			auditRateWidth-auditBar)
	case c.Recalled > 0:
		return s.Screen.Paint(cli.Faint, cli.Pad(fmt.Sprintf("%d of %d: too few for a rate", c.Used, c.Recalled),
			auditRateWidth))
	case c.Undecided > 0:
		return s.Screen.Paint(cli.Faint, cli.Pad(short(c.Undecided)+" might still be used", auditRateWidth))
	}
	return cli.Pad("–", auditRateWidth)
}

func share(of float64) string { return fmt.Sprintf("%.0f%%", 100*of) }

// short writes a number in at most six columns.
func short(n int64) string {
	switch {
	case n < 100_000:
		return cli.Grouped(int(n))
	case n < 10_000_000:
		return cli.Grouped(int(n/1000)) + "k"
	}
	return cli.Grouped(int(n/1_000_000)) + "M"
}

// callerName is a caller as people read it. A claim that looks as if it had a kind is quoted.
func callerName(name, kind string) string {
	switch kind {
	case "claimed", "token":
		return claimed(name) + " (" + kind + ")"
	case "others":
		return "all others"
	}
	return cli.Flat(name)
}

func claimed(name string) string {
	if name = cli.Flat(name); strings.ContainsAny(name, "()?\"") {
		return strconv.Quote(name)
	}
	return name
}

// nameWithin is a caller in so many columns. The kind is not cut off: a claim is marked by
// a question mark where there is no room for the word.
func nameWithin(name, kind string, width int) string {
	whole := callerName(name, kind)
	if uniseg.StringWidth(whole) <= width || kind != "claimed" {
		return cli.Cut(whole, width)
	}
	return cli.Cut(claimed(name), width-1) + "?"
}

// quotedWord is a name as it can be typed into a shell.
func quotedWord(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:") == "" {
		return name
	}
	return text.ShellQuote(cli.Flat(name))
}

func printAuditEvents(s *cli.App, r *op.AuditResult) {
	if len(r.Events) == 0 {
		s.Note("no matching entries since %s", r.Since.In(s.Zone).Format("2006-01-02"))
	} else {
		const head = "TIME         OPERATION       CALLER                  MEMORIES, CHANGE"
		s.Printf("%s\n", s.Screen.Paint(cli.Faint, head))
	}
	for i := range r.Events {
		printAuditEvent(s, &r.Events[i])
	}
	if r.NextCursor != "" {
		s.Note("to see earlier entries, use --cursor %s", text.ShellQuote(r.NextCursor))
	}
}

func printAuditEvent(s *cli.App, e *op.AuditEvent) {
	const used = 12 + 1 + 15 + 1 + 23 + 1
	colour := map[string]cli.Style{op.AuditRead: "", op.AuditWrite: cli.Green, op.AuditMerge: cli.Cyan,
		op.AuditForget: cli.Red}[e.Kind]
	what := s.Screen.Paint(colour, cli.Pad(cli.Cut(cli.VerbText(e.What), 15), 15))
	line := fmt.Sprintf("%s %s %s ", cli.Pad(cli.Ago(s.Now(), e.At), 12), what, cli.Pad(nameWithin(e.Caller, e.Of, 23),
		23))
	end, tx := "", ""
	if e.Undone {
		end = "  undone"
	}
	if e.Tx != "" {
		tx = "  " + e.Tx
	}
	below, least := "", used+len("456789ab +100")+len(end)+len(tx)
	if s.Screen.Width > 0 && s.Screen.Width < least { // the entry stays whole
		below, tx = strings.Replace(tx, "  ", "\n"+strings.Repeat(" ", 13), 1), ""
	}
	s.Printf("%s%s%s%s\n", line, auditSubject(s, e, used+len(end)+len(tx)), s.Screen.Paint(cli.Red, end),
		s.Screen.Paint(cli.Yellow, tx+below))
}

// auditSubject returns what an event is about: memories, or the first note that it changed.
func auditSubject(s *cli.App, e *op.AuditEvent, used int) string {
	if len(e.IDs) > 0 || len(e.Notes) == 0 {
		return someIDs(s, e.IDs, e.Count, used)
	}
	text, more := cli.Flat(e.Notes[0]), ""
	if n := len(e.Notes) - 1; n > 0 {
		more = " +" + cli.Grouped(n)
	}
	if s.Screen.Width > 0 {
		text = cli.Cut(text, max(len("456789ab"), s.Screen.Width-used-len(more)))
	}
	return text + s.Screen.Paint(cli.Faint, more)
}

// someIDs are as many short ids as there is room for.
func someIDs(s *cli.App, ids []memory.ID, count, used int) string {
	most := 5
	if s.Screen.Width > 0 {
		most = max(1, (s.Screen.Width-used-len(" +100"))/len("456789ab "))
	}
	var out []string
	for _, id := range ids[:min(most, len(ids))] {
		out = append(out, s.Short(id))
	}
	if more := count - len(out); more > 0 && len(out) > 0 {
		out = append(out, s.Screen.Paint(cli.Faint, "+"+cli.Grouped(more)))
	}
	if len(out) == 0 {
		return s.Screen.Paint(cli.Faint, "notes alone")
	}
	return strings.Join(out, " ")
}
