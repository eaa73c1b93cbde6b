package organize

import (
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func ReviewCommand(s *cli.App) *cobra.Command {
	return cli.Group("review",
		reviewListCommand(s), reviewShowCommand(s), reviewClaimCommand(s), reviewCloseCommand(s),
		reviewCreateCommand(s))
}

func reviewListCommand(s *cli.App) *cobra.Command {
	var req op.ReviewListRequest
	cmd := cli.Command("list", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.List(cmd.Context(), s, op.ReviewList, &req,
			func(res *op.ReviewListResult) int { return len(res.Items) },
			func(s *cli.App, res *op.ReviewListResult) { printReviewItems(cmd.Context(), s, res, &req) })
	})
	cli.Bind(cmd.Flags(), &req, "agent", "status", "label", "limit,n=20", "cursor")
	cli.CompleteWords(cmd, "agent", op.ReviewAgents()...)
	cli.CompleteWords(cmd, "status", memory.ItemOpen, memory.ItemClaimed, memory.ItemClosed, op.AnyStatus)
	return cmd
}

func reviewShowCommand(s *cli.App) *cobra.Command {
	return cli.Command("show ITEM", cli.ArgCount(1, 1, "the ID of a review item, or a prefix of the ID"),
		s.Offer(completeItems),
		func(cmd *cobra.Command, args []string) error {
			return cli.Show(cmd.Context(), s, op.ReviewShow, &op.ReviewShowRequest{ID: args[0]}, printReview)
		})
}

func reviewClaimCommand(s *cli.App) *cobra.Command {
	var req op.ReviewClaimRequest
	cmd := cli.Command("claim ITEM", cli.ArgCount(1, 1, "the ID of a review item, or a prefix of the ID"),
		s.Offer(completeItems),
		func(cmd *cobra.Command, args []string) error {
			if req.ID = args[0]; req.By == "" {
				req.By = userName()
			}
			res, err := cli.Call(cmd.Context(), s, op.ReviewClaim, &req)
			if err != nil {
				return err
			}
			return printReviewChange(s, res, "claimed for "+cli.Clean(res.Item.ClaimedBy))
		})
	cli.Bind(cmd.Flags(), &req, "by")
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

func reviewCloseCommand(s *cli.App) *cobra.Command {
	var req op.ReviewCloseRequest
	cmd := cli.Command("close ITEM [DECISION]",
		cli.ArgCount(1, 2, "the ID of a review item and an optional decision"),
		func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			if len(args) == 1 {
				return completeDecisions(s, cmd, args[0])
			}
			return completeItems(s, cmd, args, typed)
		}, func(cmd *cobra.Command, args []string) error {
			req.ID, req.Decision = args[0], strings.Join(args[1:], "")
			res, err := cli.Call(cmd.Context(), s, op.ReviewClose, &req)
			if err != nil {
				return err
			}
			return printReviewChange(s, res, "closed"+decided(&res.Item))
		})
	cli.Bind(cmd.Flags(), &req, "reason", "allow-secret")
	return cmd
}

// decided is the decision of a closed item, as the end of a sentence.
func decided(item *memory.ReviewItem) string {
	if item.Decision == "" {
		return " without a decision; the memories stay as they are"
	}
	return ": " + cli.Clean(item.Decision)
}

func reviewCreateCommand(s *cli.App) *cobra.Command {
	var req op.ReviewCreateRequest
	cmd := cli.Command("create ID…", cli.ArgCount(1, -1, "one or more memory IDs"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			req.MemoryIDs = args
			res, err := cli.Call(cmd.Context(), s, op.ReviewCreate, &req)
			if err != nil {
				return err
			}
			if !res.Made {
				return printReviewChange(s, res, "already exists, "+cli.Clean(res.Item.Status))
			}
			return printReviewChange(s, res, "filed")
		})
	f := cmd.Flags()
	cli.Bind(f, &req, "agent", "action", "urgency", "evidence", "allow-secret")
	f.StringArrayVar(&req.Labels, "label", nil, "")
	cli.CompleteWords(cmd, "agent", op.ReviewAgents()...)
	cli.CompleteWords(cmd, "urgency", op.UrgencyHigh, op.UrgencyMedium, op.UrgencyLow)
	return cmd
}

// completeItems offers the items that are not closed.
func completeItems(s *cli.App, cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cli.Offered(cmd, s, op.ReviewList, &op.ReviewListRequest{Status: op.AnyStatus, Limit: memory.MaxResults},
		func(res *op.ReviewListResult) []memory.ReviewItem { return res.Items },
		func(item *memory.ReviewItem) cobra.Completion {
			if item.Status == memory.ItemClosed {
				return ""
			}
			return cobra.CompletionWithDesc(item.Short(), item.Agent+": "+cli.ActionText(item))
		})
}

// completeDecisions offers what can be decided about an item.
func completeDecisions(s *cli.App, cmd *cobra.Command, item string) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := cli.Call(cmd.Context(), s, op.ReviewShow, &op.ReviewShowRequest{ID: item})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Clone(res.Choices), cobra.ShellCompDirectiveNoFileComp
}
