package evalcmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/capture"
	"emberd/memory"
	"emberd/op"
)

// spoken is a message of a session, or a turn of one of several conversations.
type spoken struct {
	op.SessionMessage
	Conv    string `json:"conv"`
	Speaker string `json:"speaker"`
}

// captured is a kept sentence with where it is from.
type captured struct {
	File string `json:"file"`
	Conv string `json:"conv,omitempty"`
	capture.Kept
}

// captureCommand prints what is kept of each turn to out.
func captureCommand(out io.Writer) *cobra.Command {
	half, labels := "", ""
	cmd := &cobra.Command{
		Use:  "capture FILE…",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if half != "" && half != "odd" && half != "even" {
				return memory.Errorf(memory.Invalid, "half %q: odd or even", half)
			}
			kept, err := capturedIn(args, half)
			if err != nil {
				return err
			}
			if labels != "" {
				return printPrecision(out, kept, labels)
			}
			write := json.NewEncoder(out)
			write.SetEscapeHTML(false)
			for i := range kept {
				if err := write.Encode(&kept[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&half, "half", "", "")
	cmd.Flags().StringVar(&labels, "labels", "", "")
	return cmd
}

// capturedIn returns what is kept of files of conversations.
func capturedIn(names []string, half string) (all []captured, err error) {
	for _, name := range names {
		lines, err := readLines(name, "message of a session",
			func(m *spoken) bool { return m.Role != "" || m.Speaker != "" })
		if err != nil {
			return nil, err
		}
		for i, c := range conversations(lines) {
			if half == "even" && i%2 == 0 || half == "odd" && i%2 == 1 {
				continue
			}
			for k := range capture.Turns(nil, c.messages) {
				if !k.Credential && !k.Over {
					all = append(all, captured{File: name, Conv: c.name, Kept: k})
				}
			}
		}
	}
	return all, nil
}

// label is what readers said of a sentence: whether they want to be told it a month later.
type label struct {
	Text string `json:"text_sha256"` // 16 hex digits
	Yes  []bool `json:"yes"`
}

// printPrecision prints how much of what is kept each reader wants to be told, by rule.
func printPrecision(out io.Writer, kept []captured, labels string) error {
	lines, err := readLines(labels, "label", func(l *label) bool { return l.Text != "" && len(l.Yes) == 2 })
	if err != nil {
		return err
	}
	said := map[string][]bool{}
	for _, l := range lines {
		said[l.Text] = l.Yes
	}
	counts := map[string]*wantedCount{"all": {}}
	for i := range kept {
		rule := kept[i].Rule
		if counts[rule] == nil {
			counts[rule] = &wantedCount{}
		}
		sum := sha256.Sum256([]byte(kept[i].Text))
		yes := said[hex.EncodeToString(sum[:8])]
		counts[rule].add(yes)
		counts["all"].add(yes)
	}
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		c := counts[rule]
		if _, err := fmt.Fprintf(out, "%-12s %4d kept, %d and %d of %d that were read are wanted\n", rule, c.kept,
			c.wanted[0], c.wanted[1], c.read); err != nil {
			return err
		}
	}
	return nil
}

// wantedCount counts sentences, those that were read, and those that each reader wants.
type wantedCount struct {
	kept, read int
	wanted     [2]int
}

// add counts a sentence, with what readers say, nil for one that none has read.
func (c *wantedCount) add(yes []bool) {
	c.kept++
	if yes == nil {
		return
	}
	c.read++
	for i := range c.wanted {
		if yes[i] {
			c.wanted[i]++
		}
	}
}

type conversation struct {
	name     string
	messages []op.SessionMessage
}

// conversations returns the messages of each conversation, in the order of the file.
func conversations(lines []spoken) []conversation {
	var all []conversation
	for _, l := range lines {
		i := slices.IndexFunc(all, func(c conversation) bool { return c.name == l.Conv })
		if i < 0 {
			i = len(all)
			all = append(all, conversation{name: l.Conv})
		}
		m := l.SessionMessage
		switch {
		case m.Role != "":
		case l.Speaker == "user":
			m.Role = op.RoleUser
		default:
			m.Role, m.Final = op.RoleAgent, true
		}
		all[i].messages = append(all[i].messages, m)
	}
	return all
}
