package llm

import (
	"context"
	"encoding/json"
	"fmt"
)

// Complete returns the endpoint's answer to a user's message under an instruction, at
// temperature 0 and of at most so many tokens. It is bounded in time by the timeout and
// the tries of [Options] and by ctx. The answer is returned as it is: the caller
// believes nothing of it. It may be shared like the Client.
func (c *Client) Complete(ctx context.Context, system, user string, limit int) (string, error) {
	body, err := json.Marshal(request{
		Model:     c.opt.Model,
		Messages:  []message{{Role: "system", Content: system}, {Role: "user", Content: user}},
		MaxTokens: limit,
	})
	if err != nil {
		return "", fmt.Errorf("cannot encode the chat request: %w", err)
	}
	return c.complete(ctx, body)
}
