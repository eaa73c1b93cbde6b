package tool

import (
	"context"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/memory"
)

// rootsTimeout bounds the time until a client answers which folders it works in.
const rootsTimeout = 2 * time.Second

// Project returns the current project: that of the options, or that of the folder that the
// client works in; "" for none.
func (c *Call) Project(ctx context.Context) string {
	if c.Options.Project != "" || c.Options.ProjectOf == nil {
		return c.Options.Project
	}
	for _, dir := range rootsOf(ctx, c.Session) {
		if name := c.Options.ProjectOf(dir); name != "" {
			return name
		}
	}
	return ""
}

// NamedProject resolves the project in the arguments of a tool, where "." is the current one.
func (c *Call) NamedProject(ctx context.Context, name string) (string, error) {
	if name != "." {
		return name, nil
	}
	if name = c.Project(ctx); name == "" {
		return "", memory.Errorf(memory.Invalid, "current project not found; use a project that the tool "+
			"memory_status lists, or omit the parameter project").At("project")
	}
	return name, nil
}

// rootsOf returns the folders that a client works in, if it lists them.
func rootsOf(ctx context.Context, s *sdk.ServerSession) []string {
	if s == nil {
		return nil
	}
	//lint:ignore SA1019 clients of the protocol's earlier versions have roots
	if p := s.InitializeParams(); p == nil || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	//lint:ignore SA1019 as above
	res, err := s.ListRoots(ctx, nil)
	if err != nil { // it need not say
		return nil
	}
	var dirs []string
	for _, r := range res.Roots {
		if u, err := url.Parse(r.URI); err == nil && u.Scheme == "file" && u.Path != "" {
			dirs = append(dirs, u.Path)
		}
	}
	return dirs
}
