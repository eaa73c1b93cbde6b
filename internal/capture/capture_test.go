package capture

import (
	"strings"
	"testing"

	"emberd/op"
)

func user(text string) op.SessionMessage {
	return op.SessionMessage{ID: "u", Role: op.RoleUser, Text: text}
}

func answer(text string) op.SessionMessage {
	return op.SessionMessage{ID: "a", Role: op.RoleAgent, Text: text, Final: true}
}

// listed writes what was kept as "rule: text", one a line.
func listed(kept []Kept) string {
	var all []string
	for _, k := range kept {
		all = append(all, k.Rule+": "+k.Text)
	}
	return strings.Join(all, "\n")
}

func TestTurn(t *testing.T) {
	for _, c := range []struct {
		name, answer, user, final, want string
	}{
		{name: "fact of a person", user: "The staging DB is at db.internal:5433", want: "fact: The staging DB is at db.internal:5433"},
		{name: "cause", final: "the root cause was a nil map in parser.go:88", want: "cause: the root cause was a nil map in parser.go:88"},
		{name: "thread", user: "TODO: bump the go version", want: "thread: TODO: bump the go version"},
		{name: "decision", user: "We decided to use Redis for the sessions.", want: "decision: We decided to use Redis for the sessions."},
		{name: "preference", user: "always use pnpm in this repository", want: "preference: always use pnpm in this repository"},
		{name: "yes", user: "yes"},
		{name: "before the end of a turn", final: "Let me look at the file first"},
		{name: "result", final: "All 214 tests pass now", want: "result: All 214 tests pass now"},
		{name: "question", user: "Is the staging DB at db.internal:5433?"},
		{name: "hypothetical", user: "maybe we decided to use Redis for that"},
		{name: "quoted", user: "> The staging DB is at db.internal:5433"},
		{name: "code", user: "```\nThe staging DB is at db.internal:5433\n```"},
		{name: "table", final: "| name | value |\n|---|---|\n| the DB is at | db.internal:5433 |"},
		{name: "log", user: "2026-01-02 10:00:01 the DB is at db.internal:5433"},
		{name: "pronoun", user: "it is at db.internal:5433 now"},
		{name: "heading for a pronoun", final: "## Staging\n\nIt runs at db.internal:5433 now.", want: "fact: Staging: It runs at db.internal:5433 now."},
		{name: "credential", user: "The password is always used: https://ada:s3cr3tPassw0rd@db.internal:5433/app"},
		{
			name: "correction", answer: "I added a down part to the migration.", user: "no, we roll forward only with migrations",
			want: "correction: we roll forward only with migrations (corrects: I added a down part to the migration.)",
		},
		{
			name: "correction with its contrast", answer: "The rates are read from tax.yaml.",
			user: "no, rates come from the tax service, not from the yaml",
			want: "correction: rates come from the tax service, not from the yaml",
		},
		{name: "no as an answer", answer: "Shall I add a second index?", user: "no, thanks, that is fine for today"},
		{name: "German", user: "Wir verwenden immer pnpm und nie npm.", want: "preference: Wir verwenden immer pnpm und nie npm."},
		{name: "French", user: "Nous avons décidé de garder PostgreSQL.", want: "decision: Nous avons décidé de garder PostgreSQL."},
		{name: "Spanish", user: "A partir de ahora usamos pnpm.", want: "preference: A partir de ahora usamos pnpm."},
		{name: "Chinese", user: "我们决定使用 Redis 作为缓存。", want: "decision: 我们决定使用 Redis 作为缓存。"},
		{name: "Japanese", user: "今後は必ず pnpm を使ってください、npm は使わないで。", want: "preference: 今後は必ず pnpm を使ってください、npm は使わないで。"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var messages []op.SessionMessage
			if c.answer != "" {
				messages = append(messages, answer(c.answer))
			}
			if c.user != "" {
				messages = append(messages, user(c.user))
			}
			if c.final != "" {
				messages = append(messages, answer(c.final))
			}
			if got := listed(Turn(messages)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
