package cli

import (
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

// complete offers what the daemon knows. Without one there is nothing to offer, and a
// shell is no place to complain.
func (s *App) complete(cmd *cobra.Command, what, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := Call(cmd.Context(), s, op.Complete, &op.CompleteRequest{What: what, Prefix: typed,
		Limit: memory.MaxResults})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, v := range res.Values {
		about := Cut(OneLine(v.Text), 60)
		if v.Count > 0 {
			about = Count(v.Count, "memory", "memories")
		}
		if what == op.CompleteEntities {
			about = Count(v.Count, "mention", "mentions")
		}
		out = append(out, cobra.CompletionWithDesc(v.Value, about))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// CompleteIDs offers memories, the newest first.
func (s *App) CompleteIDs(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return s.complete(cmd, op.CompleteIDs, typed)
}

// CompleteTrash offers what was forgotten last.
func (s *App) CompleteTrash(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return Offered(cmd, s, op.TrashList, &op.TrashListRequest{Limit: memory.MaxResults},
		func(res *op.TrashListResult) []op.Trashed { return res.Items }, func(t *op.Trashed) cobra.Completion {
			return cobra.CompletionWithDesc(t.Memory.ID.Short(), Cut(OneLine(t.Memory.Content), 60))
		})
}

// Offered completes with what an operation lists: a value for each item, none where offer returns
// "". Without a daemon there is nothing to offer.
func Offered[Req, Res, T any](cmd *cobra.Command, s *App, o op.Op[Req, Res], req *Req, items func(*Res) []T,
	offer func(*T) cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := Call(cmd.Context(), s, o, req)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, item := range items(res) {
		if c := offer(&item); c != "" {
			out = append(out, c)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// CompleteWords offers the words that a flag takes.
func CompleteWords(cmd *cobra.Command, flag string, words ...cobra.Completion) {
	// fails only for a flag that is not there
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
