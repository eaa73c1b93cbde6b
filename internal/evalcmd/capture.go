package evalcmd

import (
	"encoding/json"
	"io"
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
	half := ""
	cmd := &cobra.Command{
		Use:  "capture FILE…",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if half != "" && half != "odd" && half != "even" {
				return memory.Errorf(memory.Invalid, "half %q: odd or even", half)
			}
			for _, name := range args {
				if err := printCaptured(out, name, half); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&half, "half", "", "")
	return cmd
}

// printCaptured prints what is kept of a file of conversations.
func printCaptured(out io.Writer, name, half string) error {
	lines, err := readLines(name, "message of a session",
		func(m *spoken) bool { return m.Role != "" || m.Speaker != "" })
	if err != nil {
		return err
	}
	write := json.NewEncoder(out)
	write.SetEscapeHTML(false)
	for i, c := range conversations(lines) {
		if half == "even" && i%2 == 0 || half == "odd" && i%2 == 1 {
			continue
		}
		for k := range capture.Turns(c.messages) {
			if k.Credential {
				continue
			}
			if err := write.Encode(captured{File: name, Conv: c.name, Kept: k}); err != nil {
				return err
			}
		}
	}
	return nil
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
