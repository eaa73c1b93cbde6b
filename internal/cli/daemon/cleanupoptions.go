package daemon

import (
	"time"

	"emberd/engine/core"
	"emberd/internal/config"
	"emberd/internal/llm"
	"emberd/memory"
)

// cleanupOptions turns settings into what the engine takes. The client is nil without an
// endpoint.
func cleanupOptions(c *config.Config, client *llm.Client) (core.Cleanup, error) {
	from := &c.Cleanup
	o := core.DefaultCleanup()
	o.Enabled, o.Threshold, o.Worse = from.Enabled, from.Threshold, from.RollbackAt
	o.Policy.Delete, o.Policy.Merge, o.Policy.Deletions = from.DeleteBelow, from.MergeAt, from.MaxDeletions
	o.Queries, o.Model = from.Queries, c.LLM.Model
	const day = 24 * time.Hour
	o.Every = map[string]time.Duration{"daily": day, "weekly": 7 * day, "monthly": 30 * day}[from.Schedule]
	if !from.LLM {
		return o, nil
	}
	if client == nil {
		return o, memory.Errorf(memory.Invalid, "cleanup.llm requires llm.url; set llm.url, or turn off cleanup.llm")
	}
	o.Ask = client.Complete
	return o, nil
}
