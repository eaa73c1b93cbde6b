package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/clients"
	"emberd/internal/config"
	"emberd/op"
)

// A completer offers what an argument or the value of a flag may be.
type completer = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective)

// CompleteRest has every flag and argument of cmd, and of the commands below it, completed
// that its command does not complete otherwise: names that flags of several commands have,
// folders, files, and nothing where a shell would offer files that are no use there.
func (s *App) CompleteRest(cmd *cobra.Command) {
	named := s.namedFlags()
	complete := func(f *pflag.Flag) { completeFlag(cmd, f, named[f.Name]) }
	cmd.LocalFlags().VisitAll(complete)
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
		cmd.ValidArgsFunction = argumentsOf(cmd.Use)
	}
	for _, sub := range cmd.Commands() {
		s.CompleteRest(sub)
	}
}

// namedFlags are the flags that mean the same wherever they are.
func (s *App) namedFlags() map[string]completer {
	known := func(what string) completer {
		return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return s.complete(cmd, what, typed)
		}
	}
	words := func(list ...cobra.Completion) completer {
		return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
	sections := []cobra.Completion{"Key Topics", "Important Facts", "People & Entities", "Ongoing Threads",
		"File Knowledge"}
	return map[string]completer{
		"tag": known(op.CompleteTags), "add-tag": known(op.CompleteTags), "remove-tag": known(op.CompleteTags),
		"project": known(op.CompleteProjects), "collection": s.completeCollections,
		"supersedes": known(op.CompleteIDs), "memory": known(op.CompleteIDs), "id": known(op.CompleteIDs),
		"read": s.completeScopes, "write": s.completeScopes, "client": CompleteClients, "set": s.completeSet,
		"stage": words("active", "demoted", "archived", "rehydratable"), "status": words("active", "promoted",
			"archived", "all"),
		"scope": words("all", "memories", "notes", "archive"), "section": words(sections...),
		"sort":       words("created", "used", "score", "uses", "accesses"),
		"importance": words("low", "normal", "high", "core"), "origin": words("user", "agent", "tool", "web"),
		"tools": words("agent", "notes", "all", "cortexgraph", "reference"), "mode": words("analysis", "full"),
		"keep": words("higher_confidence", "higher_access", "id1", "id2"), "unit": words("turns", "facts"),
		"expires": words("12h", "30d", "8w", "never"), "resume": s.CompleteRuns,
	}
}

// completeFlag gives a flag that takes a value a completer, if it has none: the one for its
// name, or what the name of its value says.
func completeFlag(cmd *cobra.Command, f *pflag.Flag, named completer) {
	if _, has := cmd.GetFlagCompletionFunc(f.Name); has || f.Value.Type() == "bool" {
		return
	}
	value, _ := pflag.UnquoteUsage(f)
	switch {
	case named != nil && value != "UUID":
	case value == "DIR":
		named = onlyFolders
	case strings.HasPrefix(value, "FILE") || value == "PATH":
		return // a shell knows files best
	default:
		named = cobra.NoFileCompletions
	}
	_ = cmd.RegisterFlagCompletionFunc(f.Name, named) // fails only for a flag that is not there
}

func onlyFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// argumentsOf is the completer for the arguments that a command's use names: nil leaves
// them to the shell, which knows files.
func argumentsOf(use string) completer {
	_, args, _ := strings.Cut(use, " ")
	switch {
	case args == "DIR" || args == "FOLDER":
		return onlyFolders
	case strings.Contains(args, "FILE") || strings.Contains(args, "PATH"):
		return nil
	default:
		return cobra.NoFileCompletions
	}
}

// CompleteNotes offers the notes of the vault, for one argument.
func (s *App) CompleteNotes(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.complete(cmd, op.CompletePaths, typed)
}

// CompleteEither offers memories, and notes once something is typed, for one argument.
func (s *App) CompleteEither(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	return s.CompleteOneOf(cmd, args, typed, op.CompleteIDs, op.CompletePaths)
}

// CompleteOneOf offers what of one kind there is, and of another once something is typed,
// for one argument.
func (s *App) CompleteOneOf(cmd *cobra.Command, args []string, typed, first, second string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out, directive := s.complete(cmd, first, typed)
	if typed != "" {
		more, _ := s.complete(cmd, second, typed)
		out = append(out, more...)
	}
	return out, directive
}

// completeCollections offers those that have memories, the largest first.
func (s *App) completeCollections(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	res, err := Call(cmd.Context(), s, op.Stats, &op.StatsRequest{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, b := range Largest(res.Collections) {
		out = append(out, cobra.CompletionWithDesc(b.Name, Count(b.N, "memory", "memories")))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// CompleteEntries offers what can be undone, the latest first.
func (s *App) CompleteEntries(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out, directive := Offered(cmd, s, op.Journal, &op.JournalRequest{},
		func(res *op.JournalResult) []op.JournalEntry { return res.Entries },
		func(e *op.JournalEntry) cobra.Completion {
			if e.Undone {
				return ""
			}
			return cobra.CompletionWithDesc(e.Tx, e.Verb+", "+Count(e.Changed()))
		})
	return out, directive | cobra.ShellCompDirectiveKeepOrder
}

// CompleteRuns offers the runs of cleanups, the latest first.
func (s *App) CompleteRuns(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out, directive := Offered(cmd, s, op.CleanupHistory, &op.CleanupHistoryRequest{},
		func(res *op.CleanupHistoryResult) []op.CleanupRun { return res.Runs },
		func(r *op.CleanupRun) cobra.Completion {
			return cobra.CompletionWithDesc(r.ID, r.Mode+" of "+r.Collection+", "+r.State)
		})
	return out, directive | cobra.ShellCompDirectiveKeepOrder
}

// CompleteTokens offers the tokens there are.
func (s *App) CompleteTokens(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return Offered(cmd, s, op.TokenList, &op.TokenListRequest{},
		func(res *op.TokenListResult) []op.Token { return res.Tokens },
		func(t *op.Token) cobra.Completion { return t.Name })
}

// completeScopes offers what a token may see, kind by kind.
func (s *App) completeScopes(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	kind, name, chosen := strings.Cut(typed, ":")
	what, known := map[string]string{"tag": op.CompleteTags, "project": op.CompleteProjects}[kind]
	if !chosen || !known {
		return []cobra.Completion{"all", "tag:", "project:", "folder:"},
			cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	out, directive := s.complete(cmd, what, name)
	for i := range out {
		out[i] = kind + ":" + out[i]
	}
	return out, directive
}

// CompleteKey offers one key of the configuration.
func (s *App) CompleteKey(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.CompleteSetting(cmd, args, "")
}

// CompleteSetting offers a key of the configuration, and then what it takes.
func (s *App) CompleteSetting(_ *cobra.Command, args []string, _ string) (out []cobra.Completion,
	_ cobra.ShellCompDirective) {
	for _, st := range s.settings() {
		switch {
		case len(args) == 0:
			out = append(out, cobra.CompletionWithDesc(st.Key, st.Value))
		case len(args) == 1 && st.Key == args[0]:
			out = st.Words
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeSet offers KEY=VALUE.
func (s *App) completeSet(_ *cobra.Command, _ []string, typed string) (out []cobra.Completion,
	_ cobra.ShellCompDirective) {
	key, _, chosen := strings.Cut(typed, "=")
	for _, st := range s.settings() {
		if !chosen {
			out = append(out, st.Key+"=")
		}
		for _, word := range st.Words {
			if chosen && st.Key == key {
				out = append(out, key+"="+word)
			}
		}
	}
	if !chosen {
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// settings are those there are; a shell is no place to say what is wrong with them.
func (s *App) settings() []config.Setting {
	c, err := s.Load()
	if err != nil {
		return nil
	}
	return c.Effective()
}

func CompleteClients(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, c := range clients.All() {
		names = append(names, cobra.CompletionWithDesc(c.Name, c.Title))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// Offer makes a completer of a function that completes with what the command line knows.
func (s *App) Offer(
	complete func(*App, *cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective),
) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return complete(s, cmd, args, typed)
	}
}
