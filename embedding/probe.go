package embedding

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"emberd/internal/llamawire"
)

// Probe starts a helper with the libraries of a folder and without a model, and returns
// what they contain. Unconfined is as in [Options]. That they cannot be used is a *llamawire.Failed, in an error that
// says it in a sentence. The end of ctx ends the helper.
func Probe(ctx context.Context, helper, dir string, unconfined bool) (llamawire.Hello, error) {
	dir, err := filepath.Abs(dir) // the helper runs elsewhere
	if err != nil {
		return llamawire.Hello{}, fmt.Errorf("cannot find the runtime %s: %w", dir, err)
	}
	c, err := startChild(helper, helperArgs(unconfined, "--engine", dir)...)
	if err != nil {
		return llamawire.Hello{}, err
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	limits := usualLimits()
	return c.probe(ctx, helper, dir, &limits)
}

// probe receives the one word of a helper, and ends it.
func (c *child) probe(ctx context.Context, helper, dir string, limits *limits) (llamawire.Hello, error) {
	var hello llamawire.Hello
	err := c.read(&hello, limits.load)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.kill()
	}
	c.end(limits.grace)
	err = errors.Join(err, c.release())
	switch {
	case ctx.Err() != nil:
		return llamawire.Hello{}, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return llamawire.Hello{}, fmt.Errorf(
			"the helper %s did not report whether it can load the libraries in %s within %s%s", helper, dir,
			limits.load, c.ending())
	case err != nil:
		return llamawire.Hello{},
			fmt.Errorf("the helper %s ended before it reported whether it can load the libraries in %s%s", helper, dir,
				c.ending())
	case hello.Protocol != llamawire.Protocol:
		return llamawire.Hello{},
			fmt.Errorf(
				"the helper %s belongs to another version of emberd; install emberd and the helper from one package",
				helper)
	case hello.Failed != nil:
		return hello, fmt.Errorf("cannot use the libraries in %s: %w", dir, hello.Failed)
	}
	return hello, nil
}
