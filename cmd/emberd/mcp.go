package main

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"emberd/internal/mcpserver"
)

func (s *state) mcpCommand() *cobra.Command {
	tools := string(mcpserver.Agent)
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an AI agent over standard input and output",
		Long: `Speak the Model Context Protocol on standard input and output, for clients that
start their servers themselves. Every call goes to the daemon, which may be
restarted meanwhile.`,
		Example:     `  emberd mcp --tools cortexgraph`,
		Annotations: exits(nil),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			profile, err := mcpserver.ParseProfile(tools)
			if err != nil {
				return err
			}
			client, err := s.connect()
			if err != nil {
				return err
			}
			server, err := mcpserver.New(mcpserver.Options{Invoker: client, Profile: profile, Version: buildVersion()})
			if err != nil {
				return err
			}
			err = server.Run(cmd.Context(), &mcp.StdioTransport{})
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().StringVar(&tools, "tools", tools, "which `TOOLS` to show: agent, all, cortexgraph or reference")
	return cmd
}
