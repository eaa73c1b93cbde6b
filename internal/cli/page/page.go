// Package page has the command that shows the memories in a browser.
//
// The command serves the page itself, as a client of the daemon's socket. So the daemon opens no port
// and keeps its sandbox, a fault of the page ends the page alone, and the page is gone when the
// command ends. The command gives up what it does not need, too: once the browser is started, it can
// reach the daemon's socket, and open no file.
package page

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/page"
	"emberd/internal/sandbox"
	"emberd/memory"
	"emberd/op"
)

type options struct {
	onlyPrint bool
	export    string
}

// Command is emberd page.
func Command(s *cli.App) *cobra.Command {
	var o options
	show := func(cmd *cobra.Command, _ []string, c *config.Config) error {
		if _, err := cli.Call(cmd.Context(), s, op.Version, &op.VersionRequest{}); err != nil {
			return err
		}
		p := page.New(s.Client, page.Options{Version: cli.BuildVersion(), Now: s.Now, Zone: s.Zone})
		if o.export != "" {
			return export(cmd.Context(), s, p, o.export)
		}
		return serve(cmd, s, c, p, o.onlyPrint)
	}
	cmd := cli.Command("page", cli.NoArgs, nil, s.Configured(show))
	cmd.Flags().BoolVar(&o.onlyPrint, "print", false, "")
	cmd.Flags().StringVar(&o.export, "export", "", "")
	return cmd
}

// serve serves the page until the command is interrupted.
func serve(cmd *cobra.Command, s *cli.App, c *config.Config, p *page.Page, onlyPrint bool) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	ln, err := page.Listen(ctx, c.PageListen)
	if err != nil {
		return err
	}
	if err := p.Bind(ln); err != nil {
		return errors.Join(err, ln.Close())
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, ln) }()
	err = start(cmd, s, c, p, onlyPrint)
	if err == nil {
		err = attend(ctx, s, p, served)
		served <- nil // attend has the result
	}
	cancel()
	return errors.Join(err, <-served)
}

// start opens the page, or prints its address, and then gives up what is not needed any longer.
func start(cmd *cobra.Command, s *cli.App, c *config.Config, p *page.Page, onlyPrint bool) error {
	address := p.Address()
	opened := !onlyPrint && s.Screen.Width > 0 && cli.Launch(address) == nil
	if opened {
		s.Note("the page is open in your browser; to get another address, press Enter; to close the page, press Ctrl+C")
	} else {
		s.Printf("%s\n", address)
		s.Note("open this address within 60 seconds; it can be used only once; to " +
			"get another address, press Enter; to close the page, press Ctrl+C")
	}
	if err := s.Stdout.Flush(); err != nil {
		return fmt.Errorf("cannot print the address: %w", err)
	}
	return confine(s, c)
}

// confine takes from this process all but the daemon's socket. The folder of the socket is named,
// because a daemon that starts again makes another socket.
func confine(s *cli.App, c *config.Config) error {
	if c.Sandbox == "off" {
		return nil
	}
	_ = s.Now().In(time.Local).String() // reads the file of the time zone
	if err := sandbox.Undumpable(); err != nil {
		return err
	}
	state, err := sandbox.Restrict(&sandbox.Policy{Sockets: []string{filepath.Dir(c.Socket)}})
	if c.Sandbox != "on" || err == nil && state.ABI > 0 {
		return nil
	}
	why := state.Why
	if err != nil {
		why = err.Error()
	}
	return memory.Errorf(memory.Unavailable,
		"cannot start the sandbox, which the setting sandbox=on requires: %s; set sandbox to auto", why)
}

// attend prints a new address for each line of a terminal, until the command is interrupted or the
// page cannot be served.
func attend(ctx context.Context, s *cli.App, p *page.Page, served <-chan error) error {
	lines := make(chan struct{})
	if s.Interactive() {
		go func() { // ends with the process, or when the input does
			in := bufio.NewScanner(s.Input(ctx))
			for in.Scan() {
				select {
				case lines <- struct{}{}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	for {
		select {
		case err := <-served:
			return err
		case <-ctx.Done():
			return <-served
		case <-lines:
			s.Printf("%s\n", p.Address())
			if err := s.Stdout.Flush(); err != nil {
				return fmt.Errorf("cannot print the address: %w", err)
			}
		}
	}
}
