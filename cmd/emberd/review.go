package main

import (
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) reviewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "review",
		Short: "Decide what agents and people ask about memories",
		Long: `Decide what agents and people ask about memories: what is about to fade and may
be worth keeping, what could be merged, what contradicts. Each question is a
review item about one or more memories. It has labels (consolidation:AGENT,
urgency:URGENCY, and others), can be claimed while somebody works on it, and is
closed, mostly with a decision that is then carried out.`,
		Example: `  emberd review list
  emberd review show rev-3f9a1c5d
  emberd review close rev-3f9a1c5d keep`,
		Annotations: exits(endings{exitNothing: "", exitNoDaemon: ""}),
	}
	asGroup(cmd)
	cmd.AddCommand(s.reviewListCommand(), s.reviewShowCommand(), s.reviewClaimCommand(), s.reviewCloseCommand(), s.reviewCreateCommand())
	return cmd
}

func (s *state) reviewListCommand() *cobra.Command {
	var req op.ReviewListRequest
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List review items, the most urgent first",
		Example: `  emberd review list
  emberd review list --agent decay --label urgency:high
  emberd review list --status all --json`,
		Annotations: exits(endings{exitNothing: "there are none", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.ReviewList, &req)
			if err != nil {
				return err
			}
			return s.found(res, len(res.Items), func() { s.printReviewItems(cmd.Context(), res, &req) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Agent, "agent", "", "only those that `AGENT` filed: decay, cluster, merge, promote or others")
	f.StringVar(&req.Status, "status", memory.ItemOpen, "only those that are `STATUS`: open, claimed, closed or all")
	f.StringVar(&req.Label, "label", "", "only those with `LABEL`")
	f.IntVarP(&req.Limit, "limit", "n", longestList, "at most `N`")
	completeWords(cmd, "agent", op.ReviewAgents()...)
	completeWords(cmd, "status", memory.ItemOpen, memory.ItemClaimed, memory.ItemClosed, op.AnyStatus)
	return cmd
}

func (s *state) reviewShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ITEM",
		Short: "Show a review item, its memories and what can be decided",
		Long: `Show a review item with the memories that it is about, what is different in
them (- what only the first says, + what it lacks), what can be decided, and
what happens if nobody decides. That is a use of none of the memories.`,
		Example:           `  emberd review show rev-3f9a1c5d`,
		Annotations:       exits(endings{exitNothing: "there is no such item", exitNoDaemon: ""}),
		Args:              takes(1, 1, "the id of a review item, or its beginning"),
		ValidArgsFunction: s.completeItems,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), s, op.ReviewShow, &op.ReviewShowRequest{ID: args[0]})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printReview(res)
			return nil
		},
	}
}

func (s *state) reviewClaimCommand() *cobra.Command {
	var req op.ReviewClaimRequest
	cmd := &cobra.Command{
		Use:   "claim ITEM",
		Short: "Say that you work on a review item, so that nobody else does",
		Example: `  emberd review claim rev-3f9a1c5d
  emberd review claim rev-3f9a1c5d --by ann`,
		Annotations: exits(endings{exitNothing: "there is no such item", exitNoDaemon: "",
			exitConflict: "somebody else has claimed it, or it is closed", exitDisk: "", exitAgain: ""}),
		Args:              takes(1, 1, "the id of a review item, or its beginning"),
		ValidArgsFunction: s.completeItems,
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.ID = args[0]; req.By == "" {
				req.By = userName()
			}
			res, err := call(cmd.Context(), s, op.ReviewClaim, &req)
			if err != nil {
				return err
			}
			return s.printReviewChange(res, "claimed for "+clean(res.Item.ClaimedBy))
		},
	}
	cmd.Flags().StringVar(&req.By, "by", "", "`NAME` of who does, by default yours")
	return cmd
}

// userName is whose shell this is, "" if nobody knows.
func userName() string {
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	u, err := user.Current()
	if err != nil {
		return "" // the daemon says who it was by the program
	}
	return u.Username
}

func (s *state) reviewCloseCommand() *cobra.Command {
	var req op.ReviewCloseRequest
	cmd := &cobra.Command{
		Use:   "close ITEM [DECISION]",
		Short: "Close a review item, with a decision that is carried out",
		Long: `Close a review item. A decision is carried out first, and both are one journal
entry, which undo takes back. Without one nothing is done but to close it.

promote     give the memories notes in the vault
keep        leave them as they are, which counts as a use of each
merge       make one memory of them
forget      move all of them to the trash
forget:ID   move that one to the trash

review show tells which of these can be carried out. The same agent asks again
only after one of the memories was changed.`,
		Example: `  emberd review close rev-3f9a1c5d keep
  emberd review close rev-3f9a1c5d forget:456789ab --reason 'the older one'
  emberd review close rev-3f9a1c5d --reason 'not worth a decision'`,
		Annotations: exits(endings{exitNothing: "there is no such item, or no vault", exitNoDaemon: "",
			exitConflict: "it is closed already, or the decision cannot be carried out", exitDisk: "", exitSecret: "", exitAgain: ""}),
		Args: takes(1, 2, "the id of a review item, and a decision if there is one"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return s.completeDecisions(cmd, args[0])
			}
			return s.completeItems(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ID, req.Decision = args[0], strings.Join(args[1:], "")
			res, err := call(cmd.Context(), s, op.ReviewClose, &req)
			if err != nil {
				return err
			}
			return s.printReviewChange(res, "closed"+decided(&res.Item))
		},
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "`WORDS` to remember why")
	cmd.Flags().BoolVar(&req.AllowSecret, "allow-secret", false, "keep the reason although it looks like a credential")
	return cmd
}

// decided is the decision of a closed item, as the end of a sentence.
func decided(item *memory.ReviewItem) string {
	if item.Decision == "" {
		return ""
	}
	return ": " + clean(item.Decision)
}

func (s *state) reviewCreateCommand() *cobra.Command {
	var req op.ReviewCreateRequest
	cmd := &cobra.Command{
		Use:   "create ID…",
		Short: "Ask for a decision about some memories",
		Example: `  emberd review create 456789ab
  emberd review create 456789ab 89ab0123 --action merge --evidence 'same port'`,
		Annotations: exits(endings{exitNothing: "no memory with that id", exitNoDaemon: "",
			exitConflict: "one of them is the first of too many items already", exitDisk: "", exitSecret: "", exitAgain: ""}),
		Args:              takes(1, -1, "the id of a memory, or several"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.MemoryIDs = args
			res, err := call(cmd.Context(), s, op.ReviewCreate, &req)
			if err != nil {
				return err
			}
			if !res.Made {
				return s.printReviewChange(res, "was there already, "+clean(res.Item.Status))
			}
			return s.printReviewChange(res, "filed")
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Agent, "agent", "", "`AGENT` that asks, by default user")
	f.StringVar(&req.Action, "action", "", "what you propose, in a `WORD`; default needs_review")
	f.StringVar(&req.Urgency, "urgency", "", "`URGENCY`: high, medium (default) or low")
	f.StringArrayVar(&req.Labels, "label", nil, "a `LABEL` of your own; repeatable")
	f.StringVar(&req.Evidence, "evidence", "", "`WORDS` on why")
	f.BoolVar(&req.AllowSecret, "allow-secret", false, "store it although it looks like a credential")
	completeWords(cmd, "agent", op.ReviewAgents()...)
	completeWords(cmd, "urgency", op.UrgencyHigh, op.UrgencyMedium, op.UrgencyLow)
	return cmd
}

// completeItems offers the items that are not closed.
func (s *state) completeItems(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	res, err := call(cmd.Context(), s, op.ReviewList, &op.ReviewListRequest{Status: op.AnyStatus, Limit: memory.MaxResults})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, item := range res.Items {
		if item.Status != memory.ItemClosed {
			out = append(out, cobra.CompletionWithDesc(item.Short(), item.Agent+": "+item.Action))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeDecisions offers what can be decided about an item.
func (s *state) completeDecisions(cmd *cobra.Command, item string) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := call(cmd.Context(), s, op.ReviewShow, &op.ReviewShowRequest{ID: item})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Clone(res.Choices), cobra.ShellCompDirectiveNoFileComp
}
