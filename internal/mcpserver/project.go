package mcpserver

import (
	"context"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/memory"
)

// rootsTimeout is how long a client may take to say where it works.
const rootsTimeout = 2 * time.Second

// project is the current one: what the options say, or what the folder belongs to that
// the client says it works in; "" for none.
func (c *call) project(ctx context.Context) string {
	if c.opt.Project != "" || c.opt.ProjectOf == nil {
		return c.opt.Project
	}
	for _, dir := range rootsOf(ctx, c.session) {
		if name := c.opt.ProjectOf(dir); name != "" {
			return name
		}
	}
	return ""
}

// named is the project that a tool was given.
func (c *call) named(ctx context.Context, name string) (string, error) {
	if name != "." {
		return name, nil
	}
	if name = c.project(ctx); name == "" {
		return "", memory.Errorf(memory.Invalid, "there is no current project; name one that memory_status lists, or leave project out").At("project")
	}
	return name, nil
}

// rootsOf are the folders that a client says it works in, if it says so.
func rootsOf(ctx context.Context, s *mcp.ServerSession) []string {
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
