package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) statusCommand() *cobra.Command {
	var full bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell how the daemon is",
		Long: `Tell how the daemon is: what is wrong first, then how many memories are in which
stage, how much of the log is still needed, how far notes and vectors are, and
where everything is. On a terminal that is one screen; --full, and a pipe, have
every detail. --watch draws it again and again, all of a terminal, until q is
pressed; with --json it prints one line each time.`,
		Example: `  emberd status
  emberd status --watch
  emberd status --full
  emberd status --json | jq .log`,
		Annotations: exits(endings{exitNoDaemon: ""}),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && cmd.Flags().Changed("watch") {
				return wrong(cmd, "%s takes no argument, but %q was given; the time of --watch follows an equals sign, as in --watch=5s", cmd.CommandPath(), args[0])
			}
			return takes(0, 0, "")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("watch") {
				return s.watchStatus(cmd.Context(), every, full)
			}
			return s.status(cmd.Context(), full)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "every detail, as a pipe gets it")
	cmd.Flags().DurationVar(&every, "watch", watchEvery, "draw it anew each `TIME`, as in --watch=5s, at least 200ms")
	cmd.Flags().Lookup("watch").NoOptDefVal = watchEvery.String()
	return cmd
}

func (s *state) status(ctx context.Context, full bool) error {
	res, err := call(ctx, s, op.Status, &op.StatusRequest{})
	switch {
	case err != nil:
		return err
	case s.json:
		return s.printJSON(res)
	case full || s.screen.width == 0:
		s.printStatus(res)
		return nil
	}
	stats, err := s.stageCounts(ctx)
	if err != nil {
		return err
	}
	for _, line := range s.glance(s.screen, res, stats) {
		s.printf("%s\n", line)
	}
	return nil
}

// stageCounts counts the memories by stage, without reading the log for it.
func (s *state) stageCounts(ctx context.Context) (*op.StatsResult, error) {
	return call(ctx, s, op.Stats, &op.StatsRequest{})
}

// row prints a name and a value side by side.
func (s *state) row(name, value string) {
	s.printf("%s %s\n", s.screen.paint(faint, pad(name, 10)), value)
}

func (s *state) printStatus(r *op.StatusResult) {
	health := s.screen.paint(green, r.Health)
	if r.Health != "ok" {
		health = s.screen.paint(yellow, r.Health)
	}
	s.row("health", health)
	s.row("daemon", fmt.Sprintf("process %d, up for %s", r.Version.PID, lasted(s.now().Sub(r.Started))))
	s.row("version", versionText(&r.Version))
	if !toldAll(r) {
		s.printSeen(r)
		return
	}
	s.row("memories", fmt.Sprintf("%s, %s in the trash", grouped(r.Memories), grouped(r.Trash)))
	s.row("log", fmt.Sprintf("%s in %s, durability %s", size(r.Log.Bytes), count(r.Log.Segments, "segment", "segments"), r.Log.Durability))
	s.row("", fmt.Sprintf("loaded in %d ms: %s; snapshot %s", r.Log.LoadMillis, recovered(r.Log.Recovery), r.Log.Snapshot))
	if r.Log.ReadOnly != "" {
		s.row("", s.screen.paint(red, "not writable: "+clean(r.Log.ReadOnly)))
	}
	if c := r.Log.Compaction; c != nil {
		s.row("", fmt.Sprintf("compacted %s: %s became %s", ago(s.now(), c.At), size(c.Before), size(c.After)))
	}
	s.row("index", indexed(r.Loading))
	for _, v := range r.Vaults {
		s.printVault(&v)
	}
	s.printAuthor(r.Author)
	if r.Meaning != nil {
		s.row("vectors", s.coverage(r.Meaning))
		told := func(warning string) bool { return strings.Contains(warning, r.Meaning.Without) }
		if r.Meaning.Without != "" && !slices.ContainsFunc(r.Warnings, told) {
			s.rows("", clean(r.Meaning.Without), "")
		}
	}
	s.row("socket", r.Socket)
	if r.MCP != nil {
		s.row("agents", r.MCP.URL)
		s.row("", "with the token in "+r.MCP.TokenFile)
	}
	if r.Tokens != nil {
		s.row("tokens", tokensTold(r.Tokens))
	}
	s.printSandbox(r.Sandbox)
	s.row("data", r.Data)
	s.row("state", r.State)
	if c, err := s.load(); err == nil {
		s.row("config", c.File+map[bool]string{false: " (not there)"}[c.FileRead])
	}
	for _, d := range r.Devices {
		if d.Here {
			s.row("device", deviceName(d.Device, d.Name)+map[bool]string{true: ", the keeper"}[d.Keeper && len(r.Devices) > 1])
		}
	}
	for _, d := range r.Devices {
		if !d.Here {
			s.row("", s.otherDevice(&d))
		}
	}
	s.row("wakes for", wakes(r.Timers))
	for _, w := range r.Warnings {
		s.warn("warning", clean(w))
	}
}

// toldAll reports whether a status is of everything: who has a token for a part is not told
// of the log and the folders.
func toldAll(r *op.StatusResult) bool { return r.Log.Durability != "" }

// printSeen prints what is told of a part.
func (s *state) printSeen(r *op.StatusResult) {
	s.row("memories", grouped(r.Memories)+" in the scopes of the token")
	if r.Log.ReadOnly != "" {
		s.row("log", s.screen.paint(red, "not writable: "+clean(r.Log.ReadOnly)))
	}
	for _, v := range r.Vaults {
		s.row("vault", fmt.Sprintf("%s, %s in the scopes of the token", flat(v.Name), count(v.Notes, "note", "notes")))
	}
	for _, w := range r.Warnings {
		s.warn("warning", clean(w))
	}
}

func tokensTold(t *op.TokenStatus) string {
	text := grouped(t.Valid) + " in force"
	if t.Expiring > 0 {
		text += fmt.Sprintf(", %s within a week", count(t.Expiring, "ends", "end"))
	}
	return text
}

// printSandbox tells what the daemon may still do.
func (s *state) printSandbox(b *op.SandboxStatus) {
	switch {
	case b == nil:
		return
	case !b.On:
		s.rows("sandbox", "none: "+clean(b.Why), "")
		return
	}
	var does []string
	for _, path := range b.Run {
		does = append(does, flat(path))
	}
	s.row("sandbox", fmt.Sprintf("on (Landlock %d): runs %s; TCP %s", b.ABI, cmp.Or(strings.Join(does, ", "), "nothing"), ports(b)))
	does = does[:0]
	for _, path := range b.Write {
		does = append(does, flat(path))
	}
	s.rows("", "writes below "+strings.Join(does, ", "), "")
}

// ports tells which TCP ports are left.
func ports(b *op.SandboxStatus) string {
	if b.ABI < 4 {
		return "not restricted by this kernel"
	}
	var parts []string
	for _, p := range []struct {
		what string
		all  []uint16
	}{{"to", b.Connect}, {"at", b.Listen}} {
		for _, port := range p.all {
			parts = append(parts, fmt.Sprintf("%s port %d", p.what, port))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// otherDevice tells when another device was seen and how far it is.
func (s *state) otherDevice(d *op.DeviceStatus) string {
	text := deviceName(d.Device, d.Name)
	if d.Keeper {
		text += ", the keeper"
	}
	if d.Seen.IsZero() {
		return text + ", never heard of"
	}
	text += ", last seen " + lasted(max(0, s.now().Sub(d.Seen))) + " ago"
	if d.Missing > 0 {
		text += fmt.Sprintf("; %s on the way here", count(int(d.Missing), "change", "changes"))
	}
	if d.Behind > 0 {
		text += fmt.Sprintf("; %s behind", count(int(d.Behind), "change", "changes"))
	}
	return text
}

func (s *state) printVault(v *op.VaultStatus) {
	notes := count(v.Notes, "note", "notes")
	if v.Absent > 0 && v.Frozen == "" {
		notes += fmt.Sprintf(", %s of them missing, and forgotten soon unless they come back", grouped(v.Absent))
	}
	if v.Waiting > 0 {
		notes += fmt.Sprintf(", %s to read", grouped(v.Waiting))
	}
	if v.Skipped > 0 {
		notes += fmt.Sprintf(", %s not read (emberd vault check lists them)", grouped(v.Skipped))
	}
	s.row("vault", flat(v.Path))
	s.row("", fmt.Sprintf("%s; %s; index %s", notes, v.Mode, size(v.Bytes)))
	if v.Archived > 0 {
		s.row("", count(v.Archived, "more note", "more notes")+" in the archive folder, not searched")
	}
	if v.Memories > 0 {
		of := count(v.Memories, "note is a memory's", "notes are of memories")
		if v.Settling > 0 {
			of += fmt.Sprintf(", %s to take over", grouped(v.Settling))
		}
		s.row("", of)
	}
	if v.Pending > 0 {
		s.row("", count(v.Pending, "change waits", "changes wait")+" to be written to notes")
	}
	for _, w := range v.PendingFirst {
		s.row("", fmt.Sprintf("%s waits: %s", flat(w.Path), clean(w.Reason)))
	}
	if v.Aside {
		s.row("", "its file system cannot exchange names, so that a note is missing for a moment while it is written")
	}
	s.printLists(v.Lists)
	for _, n := range v.NotRead {
		s.row("", fmt.Sprintf("%s not read: %s", grouped(n.Count), clean(n.Reason)))
	}
}

// printLists tells of the notes that list memories. What is wrong with one is a warning.
func (s *state) printLists(lists []op.ListStatus) {
	name := "lists"
	for _, l := range lists {
		text := flat(l.Path) + " "
		switch {
		case l.State == op.ListEmpty && l.Open > 0:
			text += "is written soon"
		case l.State == op.ListWritten:
			text += "is up to date"
		case l.State == op.ListRefused:
			text += "is not written, see the warning"
		default:
			text += l.State + ": " + clean(l.Reason)
		}
		if l.Open > 0 {
			text += ", " + count(l.Open, "item", "items") + " to decide in it"
		}
		if !l.Modified.IsZero() {
			text += ", written " + lasted(max(0, s.now().Sub(l.Modified))) + " ago"
		}
		s.row(name, text)
		name = ""
	}
}

// warn prints a warning on as many lines as it takes.
func (s *state) warn(name, text string) { s.rows(name, text, yellow) }

// rows prints a name and a text on as many lines as it takes, in one style.
func (s *state) rows(name, text string, st style) {
	for _, l := range lines(text, max(0, s.screen.width-len("warning    "))) {
		s.row(name, s.screen.paint(st, text[l.from:l.to]))
		name = ""
	}
}

// lasted writes a duration for people.
func lasted(d time.Duration) string {
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// recovered tells the lines of the last start; what is not normal is named.
func recovered(r op.RecoveryCount) string {
	parts := []string{count(r.Applied, "line", "lines")}
	for _, c := range []struct {
		n    int
		what string
	}{
		{r.Duplicate, "duplicate"}, {r.TornTail, "torn at the end"}, {r.NulTail, "with a zero-filled end"},
		{r.Quarantined, "in quarantine"}, {r.HandEdited, "edited by hand"}, {r.Future, "stamped ahead"},
		{r.Unknown, "of a later version"}, {r.Gaps, "missing"}, {r.Replaced, "files replaced"},
		{r.BadSeals, "segments not as they were sealed"},
	} {
		if c.n > 0 {
			parts = append(parts, grouped(c.n)+" "+c.what)
		}
	}
	return strings.Join(parts, ", ")
}

func indexed(l *op.Loading) string {
	if l == nil {
		return "complete"
	}
	return fmt.Sprintf("loading, %s of %s", grouped(l.Indexed), grouped(l.Total))
}

func wakes(timers map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(timers)) {
		within := timers[name]
		if d, err := time.ParseDuration(within); err == nil && d > time.Second {
			within = d.Round(time.Second).String()
		}
		parts = append(parts, name+" within "+strings.Replace(within, "m0s", "m", 1))
	}
	if len(parts) == 0 {
		return "nothing; no timer runs"
	}
	return strings.Join(parts, ", ")
}
