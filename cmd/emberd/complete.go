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

// completeFlags offers tags and projects, those that are used most first, and the words
// that a flag takes, for every such flag of cmd.
func (s *state) completeFlags(cmd *cobra.Command) {
	for name, what := range map[string]string{"tag": op.CompleteTags, "add-tag": op.CompleteTags, "remove-tag": op.CompleteTags, "project": op.CompleteProjects,
		"supersedes": op.CompleteIDs} {
		if cmd.Flags().Lookup(name) != nil {
			offer := func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return s.complete(cmd, what, typed)
			}
			_ = cmd.RegisterFlagCompletionFunc(name, offer) // fails only for a flag that is not there
		}
	}
	for name, words := range map[string][]cobra.Completion{
		"stage":      {"active", "demoted", "archived", "rehydratable"},
		"sort":       {"created", "used", "score", "uses", "accesses"},
		"importance": {"low", "normal", "high", "core"},
		"tools":      {"agent", "all", "cortexgraph", "reference"},
	} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// completeSettings offers the keys of the configuration.
func (s *state) completeSettings(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := s.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, st := range c.Effective() {
		out = append(out, cobra.CompletionWithDesc(st.Key, st.Value))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
