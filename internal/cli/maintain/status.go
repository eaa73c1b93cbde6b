// Package maintain has the commands that show the state of the daemon and of the stored
// memories, and that repair it: status, statistics, health, cleanups, doctor and the log. Only
// the commands that say so change anything.
package maintain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/cli/model"
	"emberd/op"
)

func StatusCommand(s *cli.App) *cobra.Command {
	var full bool
	var every time.Duration
	cmd := cli.Command("status", func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && cmd.Flags().Changed("watch") {
			return cli.UsageError(cmd, "%s accepts no arguments, received %q; write the interval "+
				"of --watch after an equals sign, for example --watch=5s", cmd.CommandPath(), args[0])
		}
		return cli.NoArgs(cmd, args)
	}, nil, func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("watch") {
			return watchStatus(cmd.Context(), s, every, full)
		}
		return status(cmd.Context(), s, full)
	})
	cmd.Flags().BoolVar(&full, "full", false, "")
	cmd.Flags().DurationVar(&every, "watch", watchEvery, "")
	cmd.Flags().Lookup("watch").NoOptDefVal = watchEvery.String()
	return cmd
}

func status(ctx context.Context, s *cli.App, full bool) error {
	res, err := cli.Call(ctx, s, op.Status, &op.StatusRequest{})
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.PrintJSON(res)
	case full || s.Screen.Width == 0:
		printStatus(s, res)
		return nil
	}
	stats, err := stageCounts(ctx, s)
	if err != nil {
		return err
	}
	for _, line := range drawSummary(s, s.Screen, res, stats) {
		s.Printf("%s\n", line)
	}
	return nil
}

// stageCounts counts the memories by stage, without reading the log for it.
func stageCounts(ctx context.Context, s *cli.App) (*op.StatsResult, error) {
	return cli.Call(ctx, s, op.Stats, &op.StatsRequest{})
}

// printBackup shows how old the newest backup is.
func printBackup(s *cli.App, b *op.BackupStatus) {
	text := "none yet"
	if b.File != "" {
		text = fmt.Sprintf("%s, %s", cli.Ago(s.Now(), b.Created), cli.Count(b.Memories, "memory", "memories"))
	}
	if b.Daily+b.Weekly == 0 {
		text += "; automatic backups are off"
	}
	if !b.Next.IsZero() {
		text += "; next backup in " + cli.Lasted(max(0, b.Next.Sub(s.Now())))
	}
	s.Row("backup", text)
	if b.Folder != "" {
		s.Row("", "in "+cli.Flat(b.Folder))
	}
}

func printStatus(s *cli.App, r *op.StatusResult) {
	printWaits(s, r.Waits)
	health := s.Screen.Paint(cli.Green, r.Health)
	if r.Health != "ok" {
		health = s.Screen.Paint(cli.Yellow, r.Health)
	}
	s.Row("health", health)
	for _, w := range otherWarnings(r) {
		s.Warn("warning", cli.Clean(w))
	}
	s.Row("daemon", fmt.Sprintf("PID %d, running for %s", r.Version.PID, cli.Lasted(s.Now().Sub(r.Started))))
	s.Row("version", cli.VersionText(&r.Version))
	if !toldAll(r) {
		printSeen(s, r)
		return
	}
	s.Row("memories", fmt.Sprintf("%s, %s in the trash", cli.Grouped(r.Memories), cli.Grouped(r.Trash)))
	s.Row("log", fmt.Sprintf("%s in %s, durability %s", cli.Size(r.Log.Bytes), cli.Count(r.Log.Segments, "segment",
		"segments"), r.Log.Durability))
	s.Row("", fmt.Sprintf("loaded in %d ms: %s; snapshot %s", r.Log.LoadMillis, recovered(r.Log.Recovery),
		r.Log.Snapshot))
	if got := r.Log.CameBack; got != nil {
		s.Row("", fmt.Sprintf("restored %s from %s; the restored records date from %s to %s",
			cli.Count(got.Memories, "memory", "memories"), strings.Join(got.From, " and "),
			got.Oldest.Local().Format(time.DateTime), got.Newest.Local().Format(time.DateTime)))
	}
	if r.Log.ReadOnly != "" {
		s.Row("", s.Screen.Paint(cli.Red, "not writable: "+cli.Clean(r.Log.ReadOnly)))
	}
	if c := r.Log.Compaction; c != nil {
		s.Row("", fmt.Sprintf("compacted %s: %s became %s", cli.Ago(s.Now(), c.At), cli.Size(c.Before),
			cli.Size(c.After)))
	}
	if r.Backup != nil {
		printBackup(s, r.Backup)
	}
	s.Row("index", "memories: "+indexed(r.Loading))
	for _, v := range r.Vaults {
		printVault(s, &v)
	}
	daemon.PrintAuthor(s, r.Author)
	if r.Meaning != nil {
		s.Row("vectors", model.Coverage(s, r.Meaning))
		told := func(warning string) bool { return strings.Contains(warning, r.Meaning.Without) }
		if r.Meaning.Without != "" && !slices.ContainsFunc(r.Warnings, told) {
			s.Rows("", cli.Clean(r.Meaning.Without), "")
		}
	}
	s.Row("socket", r.Socket)
	if r.Tokens != nil {
		s.Row("tokens", tokensTold(r.Tokens))
	}
	printSandbox(s, r.Sandbox)
	s.Row("data", r.Data)
	s.Row("state", r.State)
	if c, err := s.Load(); err == nil {
		s.Row("config", c.File+map[bool]string{false: " (not found)"}[c.FileRead])
	}
	for _, d := range r.Devices {
		if d.Here {
			s.Row("device", cli.DeviceName(d.Device, d.Name)+map[bool]string{true: ", primary device"}[d.Keeper &&
				len(r.Devices) > 1])
		}
	}
	for _, d := range r.Devices {
		if !d.Here {
			s.Row("", otherDevice(s, &d))
		}
	}
	s.Row("scheduled", wakes(r.Timers))
}

// toldAll reports whether a status is of everything: who has a token for a part is not told
// of the log and the folders.
func toldAll(r *op.StatusResult) bool { return r.Log.Durability != "" }

// printSeen prints what is told of a part.
func printSeen(s *cli.App, r *op.StatusResult) {
	s.Row("memories", cli.Grouped(r.Memories)+" visible with this token")
	if r.Log.ReadOnly != "" {
		s.Row("log", s.Screen.Paint(cli.Red, "not writable: "+cli.Clean(r.Log.ReadOnly)))
	}
	for _, v := range r.Vaults {
		s.Row("vault", fmt.Sprintf("%s, %s visible with this token", cli.Flat(v.Name),
			cli.Count(v.Notes, "note", "notes")))
	}
}

func tokensTold(t *op.TokenStatus) string {
	text := cli.Grouped(t.Valid) + " in force"
	if t.Expiring > 0 {
		text += fmt.Sprintf(", %s within a week", cli.Count(t.Expiring, "ends", "end"))
	}
	return text
}

// printSandbox tells what the daemon may still do.
func printSandbox(s *cli.App, b *op.SandboxStatus) {
	switch {
	case b == nil:
		return
	case !b.On:
		s.Rows("sandbox", "none: "+cli.Clean(b.Why), "")
		return
	}
	var does []string
	for _, path := range b.Run {
		does = append(does, cli.Flat(path))
	}
	s.Row("sandbox", fmt.Sprintf("on (Landlock %d): runs %s; TCP %s", b.ABI,
		cmp.Or(strings.Join(does, ", "), "nothing"), ports(b)))
	does = does[:0]
	for _, path := range b.Write {
		does = append(does, cli.Flat(path))
	}
	s.Rows("", "writes below "+strings.Join(does, ", "), "")
}

// ports tells which TCP ports are left.
func ports(b *op.SandboxStatus) string {
	if b.ABI < 4 {
		return "not restricted by this kernel"
	}
	var parts []string
	for _, port := range b.Connect {
		parts = append(parts, fmt.Sprintf("to port %d", port))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// otherDevice tells when another device was seen and how far it is.
func otherDevice(s *cli.App, d *op.DeviceStatus) string {
	text := cli.DeviceName(d.Device, d.Name)
	if d.Keeper {
		text += ", primary device"
	}
	if d.Seen.IsZero() {
		return text + ", never seen"
	}
	text += ", last seen " + cli.Lasted(max(0, s.Now().Sub(d.Seen))) + " ago"
	if d.Missing > 0 {
		text += fmt.Sprintf("; %s not yet synced", cli.Count(int(d.Missing), "change", "changes"))
	}
	if d.Behind > 0 {
		text += fmt.Sprintf("; %s behind", cli.Count(int(d.Behind), "change", "changes"))
	}
	return text
}

func printVault(s *cli.App, v *op.VaultStatus) {
	notes := cli.Count(v.Notes, "note", "notes")
	if v.Absent > 0 && v.Frozen == "" {
		notes += fmt.Sprintf(", %s of them deleted (searches will soon exclude deleted notes)", cli.Grouped(v.Absent))
	}
	if v.Waiting > 0 {
		notes += fmt.Sprintf(", %s not yet read", cli.Grouped(v.Waiting))
	}
	if v.Skipped > 0 {
		notes += fmt.Sprintf(", %s skipped (run: emberd vault check)", cli.Grouped(v.Skipped))
	}
	s.Row("vault", cli.Flat(v.Path))
	mode := v.Mode
	if v.Released {
		mode = "released"
	} else if !v.Away.IsZero() {
		mode = "away"
	}
	s.Row("", fmt.Sprintf("%s; %s; index %s", notes, mode, cli.Size(v.Bytes)))
	if v.Archived > 0 {
		s.Row("", cli.Count(v.Archived, "more note", "more notes")+" in the archive folder (not searched)")
	}
	if v.Memories > 0 {
		of := cli.Count(v.Memories, "note belongs to a memory", "notes belong to memories")
		if v.Settling > 0 {
			of += fmt.Sprintf(", %s not yet synced", cli.Grouped(v.Settling))
		}
		s.Row("", of)
	}
	if v.Pending > 0 {
		s.Row("", cli.Count(v.Pending, "change", "changes")+" not yet written to notes")
	}
	for _, w := range v.PendingFirst {
		s.Row("", fmt.Sprintf("%s waits: %s", cli.Flat(w.Path), cli.Clean(w.Reason)))
	}
	if v.Aside {
		s.Row("", "the file system does not support atomic exchange, so "+
			"a note is briefly missing while emberd writes the note")
	}
	printLists(s, v.Lists)
	for _, n := range v.NotRead {
		s.Row("", fmt.Sprintf("%s skipped: %s", cli.Grouped(n.Count), cli.Clean(n.Reason)))
	}
}

// printLists tells of the notes that list memories. What is wrong with one is a warning.
func printLists(s *cli.App, lists []op.ListStatus) {
	name := "lists"
	for _, l := range lists {
		text := cli.Flat(l.Path) + " "
		switch {
		case l.State == op.ListEmpty && l.Open > 0:
			text += "will be written soon"
		case l.State == op.ListWritten:
			text += "is up to date"
		case l.State == op.ListRefused:
			text += "not written, see the warning"
		default:
			text += l.State + ": " + cli.Clean(l.Reason)
		}
		if l.Open > 0 {
			text += ", " + cli.Count(l.Open, "item", "items") + " to review"
		}
		if !l.Modified.IsZero() {
			text += ", written " + cli.Lasted(max(0, s.Now().Sub(l.Modified))) + " ago"
		}
		s.Row(name, text)
		name = ""
	}
}

// recovered tells the lines of the last start; what is not normal is named.
func recovered(r op.RecoveryCount) string {
	parts := []string{cli.Count(r.Applied, "line", "lines")}
	for _, c := range []struct {
		n    int
		what string
	}{
		{r.Duplicate, "duplicate"}, {r.TornTail, "with an incomplete last line"}, {r.NulTail, "with a zero-filled end"},
		{r.Quarantined, "in quarantine"}, {r.HandEdited, "edited by hand"}, {r.Future, "stamped ahead"},
		{r.Unknown, "from a newer version"}, {r.Gaps, "missing"}, {r.Replaced, "files replaced"},
		{r.BadSeals, "segments with a wrong checksum"},
	} {
		if c.n > 0 {
			parts = append(parts, cli.Grouped(c.n)+" "+c.what)
		}
	}
	return strings.Join(parts, ", ")
}

func indexed(l *op.Loading) string {
	if l == nil {
		return "complete"
	}
	return fmt.Sprintf("loading, %s of %s", cli.Grouped(l.Indexed), cli.Grouped(l.Total))
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
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
