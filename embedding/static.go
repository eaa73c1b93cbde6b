package embedding

import (
	"context"

	"emberd/internal/staticmodel"
)

// static looks up a vector for each word in a table that is part of this program. It knows which
// words mean about the same, but neither their order nor what they mean beside others.
type static struct {
	maxTokens int
	prefix    string
}

func (s static) identify(context.Context, []Identity) (Identity, error) {
	table := staticmodel.Default()
	return Identity{Provider: Static, Model: "static vectors of " + table.Name, SHA256: table.SHA256(), Pooling: "mean",
		MaxTokens: s.maxTokens, Dim: table.Dim, Prefix: s.prefix}, nil
}

func (s static) embed(ctx context.Context, _ Identity, texts []string) ([][]float32, error) {
	table := staticmodel.Default()
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = table.Embed(text, s.maxTokens)
	}
	return vectors, nil
}

func (s static) tokens(_ context.Context, _ Identity, text string) (int, error) {
	return staticmodel.Default().Count(text), nil
}

func (static) loaded() bool         { return true }
func (static) awaits(Identity) bool { return false }
func (static) close() error         { return nil }
