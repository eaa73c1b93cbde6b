package root

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/cli/agent"
	"emberd/internal/cli/daemon"
	"emberd/internal/cli/data"
	"emberd/internal/cli/grade"
	"emberd/internal/cli/maintain"
	"emberd/internal/cli/memories"
	"emberd/internal/cli/model"
	"emberd/internal/cli/organize"
	"emberd/internal/cli/page"
	"emberd/internal/cli/search"
	"emberd/internal/cli/setup"
)

// The groups of the command list. A command without one is hidden: clients start it, or it is
// needed once.
const (
	groupMemories = "memories"
	groupOrganize = "organize"
	groupMaintain = "maintain"
	groupData     = "data"
	groupSetUp    = "setup"
	hidden        = ""
)

// groups returns the groups in the order of the help.
func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupMemories, Title: "Memories:"},
		{ID: groupOrganize, Title: "Organize:"},
		{ID: groupMaintain, Title: "Look after:"},
		{ID: groupData, Title: "Data:"},
		{ID: groupSetUp, Title: "Set up:"},
	}
}

// builder makes a command.
type builder = func(*cli.App) *cobra.Command

// command is one that the command line may name first.
type command struct {
	group, name string
	build       builder
	aliases     []string // words for the same act, as rm for forget
	modes       []place  // by the flag that selects each, as [cli.AddMode] reads it
	below       []place  // commands of other packages, by their names
}

// place is where a command is besides its builder's own tree.
type place struct {
	name  string
	build builder
}

// commands returns all commands in the order of the help.
func commands() []command {
	return []command{
		{group: groupMemories, name: "save", build: memories.SaveCommand, aliases: []string{"remember"},
			modes: []place{{"if-new", memories.AddCommand}}},
		{group: groupMemories, name: "search", build: search.SearchCommand, aliases: []string{"recall"},
			modes: []place{{"all-kinds", search.QueryCommand}, {"interactive,i", search.FindCommand},
				{"why-not=", search.WhyNotCommand}, {"check", memories.VerifyCommand}}},
		{group: groupMemories, name: "show", build: memories.ShowCommand,
			modes: []place{{"why", memories.WhyCommand}, {"timeline", memories.TimelineCommand}}},
		{group: groupMemories, name: "list", build: memories.ListCommand, aliases: []string{"ls"},
			modes: []place{{"trash", memories.TrashCommand}, {"entities", memories.EntitiesCommand}}},
		{group: groupMemories, name: "edit", build: memories.EditCommand,
			modes: []place{{"confirm", memories.ConfirmCommand}}},
		{group: groupMemories, name: "forget", build: memories.ForgetCommand, aliases: []string{"rm", "delete"},
			modes: []place{{"permanently", memories.PurgeCommand}}},
		{group: groupMemories, name: "rekindle", build: memories.RekindleCommand},
		{group: groupMemories, name: "undo", build: memories.UndoCommand},
		{group: groupMemories, name: "history", build: memories.HistoryCommand},
		{group: groupOrganize, name: "graph", build: organize.GraphCommand},
		{group: groupOrganize, name: "review", build: organize.ReviewCommand},
		{group: groupOrganize, name: "promote", build: organize.PromoteCommand},
		{group: groupOrganize, name: "vault", build: organize.VaultCommand},
		{group: groupOrganize, name: "lifecycle", build: organize.LifecycleCommand,
			below: []place{{"touch", memories.TouchCommand}, {"observe", memories.ObserveCommand},
				{"reinforce", memories.ReinforceCommand}}},
		{group: groupMaintain, name: "status", build: maintain.StatusCommand,
			modes: []place{{"counts", maintain.StatsCommand}}},
		{group: groupMaintain, name: "page", build: page.Command},
		{group: groupMaintain, name: "health", build: maintain.HealthCommand},
		{group: groupMaintain, name: "doctor", build: maintain.DoctorCommand},
		{group: groupMaintain, name: "audit", build: agent.AuditCommand},
		{group: groupData, name: "import", build: data.ImportCommand,
			below: []place{{"migrate", maintain.MigrateCommand}}},
		{group: groupData, name: "export", build: data.ExportCommand},
		{group: groupData, name: "backup", build: data.BackupCommand},
		{group: groupSetUp, name: "init", build: setup.InitCommand},
		{group: groupSetUp, name: "serve", build: daemon.ServeCommand},
		{group: groupSetUp, name: "service", build: daemon.ServiceCommand},
		{group: groupSetUp, name: "config", build: setup.ConfigCommand},
		{group: groupSetUp, name: "model", build: model.ModelCommand},
		{group: groupSetUp, name: "agent", build: agent.Command},
		{group: hidden, name: "tour", build: setup.TourCommand},
		{group: hidden, name: "mcp", build: agent.McpCommand},
		{group: hidden, name: "hook", build: agent.HookCommand},
		{group: hidden, name: "eval", build: grade.EvalCommand},
		{group: hidden, name: "version", build: cli.VersionCommand},
		{group: hidden, name: "completion", build: setup.CompletionCommand},
		{group: hidden, name: "man", build: setup.ManCommand},
	}
}

// otherName is an earlier name of a command: hidden, with the same flags, output and exit codes. A
// path may go on below an earlier row's. Build is only for a command that has no new name.
type otherName struct {
	old, now string
	build    builder
}

// otherNames returns the earlier names, sorted, so that a command comes before those below it.
func otherNames() []otherName {
	return []otherName{
		{old: "add", now: "save --if-new"},
		{old: "analyze", now: "agent classify"},
		{old: "archive", now: "lifecycle archive"},
		{old: "cleanup", now: "health cleanup"},
		{old: "cluster", now: "health groups"},
		{old: "compact", now: "doctor log compact"},
		{old: "confirm", now: "edit --confirm"},
		{old: "consolidate", now: "health consolidate"},
		{old: "demo", now: "tour"},
		{old: "doctor stale", now: "doctor offline-device"},
		{old: "embed", now: "model embed"},
		{old: "engine", now: "model runtime"},
		{old: "engine pause", now: "model pause"},
		{old: "engine resume", now: "model resume"},
		{old: "engine status", now: "model status"},
		{old: "entities", now: "list --entities"},
		{old: "find", now: "search --interactive"},
		{old: "gc", now: "lifecycle gc"},
		{old: "health low-access", now: "health unused"},
		{old: "install-client", now: "agent install"},
		{old: "keeper", now: "config primary-device"},
		{old: "links", now: "vault backlinks"},
		{old: "log", now: "doctor log"},
		{old: "migrate", now: "import migrate"},
		{old: "observe", now: "lifecycle observe"},
		{old: "open", now: "vault open"},
		{old: "purge", now: "forget --permanently"},
		{old: "query", now: "search --all-kinds"},
		{old: "reinforce", now: "lifecycle reinforce"},
		{old: "relate", now: "graph relate"},
		{old: "stats", now: "status --counts"},
		{old: "timeline", now: "show --timeline"},
		{old: "token", now: "agent token"},
		{old: "touch", now: "lifecycle touch"},
		{old: "trash", now: "list --trash"},
		{old: "trash list", now: "list --trash"},
		{old: "trash restore", now: "rekindle", build: memories.TrashRestoreCommand},
		{old: "ui", now: "page"},
		{old: "vault confirm", now: "vault confirm-deletions"},
		{old: "verify", now: "search --check"},
		{old: "why", now: "show --why"},
		{old: "why-not", now: "search --why-not"},
	}
}
