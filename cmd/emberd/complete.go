package main

import (
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes commands, flags, ids and tags",
		Long: `Print a script for your shell. It completes commands and flags and, while the
daemon runs, ids with the beginning of their text, and tags. For bash, install
the package bash-completion.`,
		Example: `  source <(emberd completion bash)
  emberd completion zsh > "${fpath[1]}/_emberd"
  emberd completion fish > ~/.config/fish/completions/emberd.fish`,
		Annotations: exits(nil),
		Args:        takes(1, 1, "the name of one shell: bash, zsh or fish"),
		ValidArgs:   []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(s.stdout, true)
			case "zsh":
				return root.GenZshCompletion(s.stdout)
			case "fish":
				return root.GenFishCompletion(s.stdout, true)
			}
			return wrong(cmd, "there is no completion for %q: use bash, zsh or fish", args[0])
		},
	}
}

// complete offers what the daemon knows. Without one there is nothing to offer, and a
// shell is no place to complain.
func (s *state) complete(cmd *cobra.Command, what, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := call(cmd.Context(), s, op.Complete, &op.CompleteRequest{What: what, Prefix: typed, Limit: memory.MaxResults})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, v := range res.Values {
		about := cut(oneLine(v.Text), 60)
		if v.Count > 0 {
			about = count(v.Count, "memory", "memories")
		}
		if what == op.CompleteEntities {
			about = count(v.Count, "mention", "mentions")
		}
		out = append(out, cobra.CompletionWithDesc(v.Value, about))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeIDs offers memories, the newest first.
func (s *state) completeIDs(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return s.complete(cmd, op.CompleteIDs, typed)
}

// completeTrash offers what was forgotten last.
func (s *state) completeTrash(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := call(cmd.Context(), s, op.TrashList, &op.TrashListRequest{Limit: memory.MaxResults})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, t := range res.Items {
		out = append(out, cobra.CompletionWithDesc(t.Memory.ID.Short(), cut(oneLine(t.Memory.Content), 60)))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeWords offers the words that a flag takes.
func completeWords(cmd *cobra.Command, flag string, words ...cobra.Completion) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
}
