package setup

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/clients"
	"emberd/internal/config"
	"emberd/internal/obsidian"
	"emberd/memory"
)

// questions are asked on a terminal, one line each. Where asks is not set, all of them are
// answered by what is there.
type questions struct {
	s    *cli.App
	ctx  context.Context
	asks bool
	in   *bufio.Reader
}

// answer asks and reads a line.
func (q *questions) answer(question string) (string, error) {
	q.s.Printf("%s ", strings.TrimRight(q.s.Screen.Paragraph(question, nil, ""), "\n"))
	if err := q.s.Stdout.Flush(); err != nil {
		return "", err
	}
	if q.in == nil {
		q.in = bufio.NewReader(q.s.Input(q.ctx))
	}
	line, err := q.in.ReadString('\n')
	switch {
	case q.ctx.Err() != nil:
		return "", q.ctx.Err()
	case err != nil:
		return "", memory.Errorf(memory.Invalid, "setup was canceled; nothing was changed")
	}
	return strings.TrimSpace(line), nil
}

// yes asks for yes or no, and takes Enter for no.
func (q *questions) yes(question string) (bool, error) {
	answer, err := q.answer(question + " [y/N]")
	return cli.SaysYes(answer), err
}

// vault says which folder is to be the vault, "" for none.
func (q *questions) vault(c *config.Config, flag string) (string, error) {
	if flag == noVault {
		return "", nil
	}
	if flag != "" {
		return vaultFolder(c, flag)
	}
	known := q.known(c)
	first := ""
	if len(c.Vaults) > 0 {
		first = c.Vaults[0]
	} else if len(known) > 0 {
		first = known[0].Path
	}
	if !q.asks {
		return first, nil
	}
	q.s.Printf("Searches include the notes of this vault; emberd writes only to the folder Memories.\n")
	q.list(c, known)
	choices := "a folder, or none"
	if len(known) > 0 {
		choices = "a number, " + choices
	}
	for {
		text, err := q.answer(fmt.Sprintf("Vault (%s) [%s]:", choices, cmp.Or(cli.Flat(first), noVault)))
		if err != nil {
			return "", err
		}
		dir, ok, err := q.chosen(c, known, text, first)
		if err != nil {
			return "", err
		}
		if ok && dir == "" {
			q.s.Note("no vault was set; to set a vault later, run: emberd config set vaults DIR")
		}
		if ok {
			return dir, nil
		}
	}
}

// noVault is the word for none.
const noVault = "none"

// known are the vaults on Obsidian's list that can be taken.
func (q *questions) known(c *config.Config) (out []obsidian.Vault) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // then a folder has to be named
	}
	all, err := obsidian.Vaults(obsidian.Machine{GOOS: runtime.GOOS, Home: home,
		Config: cli.Getenv(q.s, "XDG_CONFIG_HOME")})
	if err != nil {
		q.s.Note("%s", cli.Clean(err.Error()))
	}
	for _, v := range all {
		if checkVaultFolder(c, v.Path) == nil {
			out = append(out, v)
		}
	}
	return out
}

func (q *questions) list(c *config.Config, known []obsidian.Vault) {
	for i, v := range known {
		about := cli.NonEmpty(map[bool]string{true: "set now"}[len(c.Vaults) > 0 && cli.SameVaults(c.Vaults, v.Path)],
			map[bool]string{true: "open in Obsidian"}[v.Open])
		if !v.Open && !v.Opened.IsZero() {
			about = append(about, "opened "+cli.Ago(q.s.Now(), v.Opened))
		}
		q.s.Printf("  %d  %s  %s\n", i+1, cli.Flat(v.Path), q.s.Screen.Paint(cli.Faint, strings.Join(about, ", ")))
	}
}

// chosen is the folder that an answer means; not ok says why on the screen.
func (q *questions) chosen(c *config.Config, known []obsidian.Vault, text, first string) (dir string, ok bool,
	err error) {
	switch n, err := strconv.Atoi(text); {
	case text == "":
		return first, true, nil
	case strings.EqualFold(text, noVault):
		return "", true, nil
	case err == nil && n >= 1 && n <= len(known):
		return known[n-1].Path, true, nil
	case err == nil:
		q.s.Note("vault %d is not on the list", n)
		return "", false, nil
	}
	if dir, err = vaultFolder(c, text); err != nil {
		q.s.Note("%s", cli.Clean(err.Error()))
		return "", false, nil
	}
	if !obsidian.IsVault(dir) {
		ok, err := q.yes(fmt.Sprintf("Obsidian has not opened %s yet. Use it anyway?", cli.Flat(dir)))
		if err == nil && !ok {
			q.s.Note("folder %s was not set as the vault", cli.Flat(dir))
		}
		return dir, ok, err
	}
	return dir, true, nil
}

// service asks whether the system is to keep the daemon running, if it can and does not yet.
func (q *questions) service(p *plan) (err error) {
	if p.service {
		return nil
	}
	q.s.Printf("\n")
	m, in, err := daemon.Installed(q.s)
	if err == nil && len(in.Present) > 0 {
		q.s.Note("the service is already installed; to check it, run: emberd service status")
		return nil
	}
	if err == nil {
		err = m.Answers(q.ctx)
	}
	if err != nil {
		q.s.Note("cannot install a service: %s", cli.Clean(err.Error()))
		return q.ctx.Err()
	}
	p.service, err = q.yes("Run the daemon as a service?")
	return err
}

// clients asks which clients are to start emberd, of those that are here and do not yet.
func (q *questions) clients(p *plan) error {
	m, err := cli.ThisMachine(q.s)
	if err != nil || len(p.clients) > 0 {
		return err
	}
	var here []*clients.Client
	for _, c := range clients.All() {
		if c.Found(m) && !c.Has(c.File(m)) {
			here = append(here, c)
		}
	}
	if len(here) == 0 {
		return nil
	}
	q.s.Printf("\n" +
		"You can add emberd to these AI clients; emberd keeps a copy of their settings.\n")
	for i, c := range here {
		q.s.Printf("  %d  %s\n", i+1, c.Title)
	}
	for {
		text, err := q.answer(fmt.Sprintf("Clients (numbers, all, or none) [%s]:", noVault))
		if err != nil {
			return err
		}
		if q.pick(p, here, text) {
			return nil
		}
	}
}

// pick takes the clients that an answer means into the plan.
func (q *questions) pick(p *plan, here []*clients.Client, text string) bool {
	var chosen []*clients.Client
	if text = strings.ToLower(text); text == "all" {
		chosen = here
	} else if text != "" && text != noVault {
		for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.Atoi(field)
			if err != nil || n < 1 || n > len(here) {
				q.s.Note("client %s is not on the list", cli.Clean(filepath.Base(field)))
				return false
			}
			chosen = append(chosen, here[n-1])
		}
	}
	for _, c := range chosen {
		if err := addClient(q.s, p, c.Name); err != nil {
			q.s.Note("%s", cli.Clean(err.Error()))
			return false
		}
	}
	return true
}
