package setup

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/manual"
	"emberd/memory"
)

// settingsPage is the page of the config file.
const settingsPage = "emberd-config"

func ManCommand(s *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Hidden: true, // for who packs emberd
		Args:   cli.ArgCount(1, 1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pages, err := printManual(s, cmd.Root())
			if err != nil {
				return err
			}
			return cli.WriteShared(s, args[0], pages)
		},
	}
}

// printManual are pages made of what the commands and settings say of themselves.
func printManual(s *cli.App, root *cobra.Command) ([]cli.SharedFile, error) {
	var date time.Time
	if epoch := cli.Getenv(s, "SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil || seconds < 0 {
			return nil, memory.Errorf(memory.Invalid,
				"invalid SOURCE_DATE_EPOCH %.40q; use the number of seconds since 1970", epoch)
		}
		date = time.Unix(seconds, 0)
	}
	head := func(name string, section int, short string) *manual.Head {
		return &manual.Head{Name: name, Section: section, Short: short, Date: date, Source: "emberd " +
			strings.TrimPrefix(cli.BuildVersion(), "v")}
	}
	root.InitDefaultVersionFlag()
	var pages []cli.SharedFile
	for _, c := range documented(root) {
		p := manual.New(head(pageName(c), 1, lower(c.Short)))
		commandPage(p, c)
		pages = append(pages, cli.SharedFile{Name: "man1/" + pageName(c) + ".1", Text: p.Bytes()})
	}
	helper := manual.New(head("emberd-llama", 1, "run llama.cpp for emberd"))
	helperPage(helper)
	settings := manual.New(head(settingsPage, 5, "settings of emberd"))
	if err := settingsText(settings); err != nil {
		return nil, err
	}
	return append(pages,
		cli.SharedFile{Name: "man1/emberd-llama.1", Text: helper.Bytes()},
		cli.SharedFile{Name: "man5/" + settingsPage + ".5", Text: settings.Bytes()}), nil
}

// documented are a command and those below it that have a page: neither modes, which are on the page
// of their command, nor other names.
func documented(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if cli.IsDocumented(sub) {
			all = append(all, documented(sub)...)
		}
	}
	return all
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// lower begins a phrase with a small letter, as those of manual pages do.
func lower(phrase string) string { return strings.ToLower(phrase[:1]) + phrase[1:] }

func commandPage(p *manual.Page, c *cobra.Command) {
	p.Heading("Synopsis")
	p.Synopsis(c.CommandPath(), strings.TrimSpace(strings.TrimPrefix(c.UseLine(), c.CommandPath())))
	p.Heading("Description")
	p.Text(cmp.Or(c.Long, c.Short+"."))
	listCommands(p, c)
	listFlags(p, "Options", c.LocalFlags())
	if c.HasParent() {
		listFlags(p, "Global options", c.InheritedFlags())
	}
	for _, mode := range cli.Modes(c) {
		p.Heading("With " + mode.Name())
		p.Text(cmp.Or(mode.Long, mode.Short+"."))
	}
	p.Heading("Exit status")
	for line := range strings.SplitSeq(c.Annotations["exit"], "\n") {
		code, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.Entry(manual.Term{Name: code}, strings.TrimSpace(meaning)+".")
	}
	p.Heading("Examples")
	p.Verbatim(c.Example)
	p.Heading("See also")
	p.References(related(c))
}

// listCommands lists those below a command, in the groups of the help.
func listCommands(p *manual.Page, c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	p.Heading("Commands")
	list := func(group string) {
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && sub.GroupID == group {
				p.Entry(manual.Term{Name: pageName(sub) + "(1)"}, sub.Short+".")
			}
		}
	}
	for _, g := range c.Groups() {
		p.Subheading(strings.TrimSuffix(g.Title, ":"))
		list(g.ID)
	}
	if len(c.Groups()) == 0 {
		list("")
	}
}

func listFlags(p *manual.Page, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.Heading(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		p.Entry(manual.Term{Name: name, Value: value}, text+defaultOf(f)+".")
	})
}

// defaultOf says what a flag is without being given, where that is something.
func defaultOf(f *pflag.Flag) string {
	if slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// related are the pages that a command's page leads to: what is above and below it, what
// its text names, and the settings.
func related(c *cobra.Command) []string {
	var names []string
	add := func(c *cobra.Command) {
		if name := pageName(c) + "(1)"; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	c.VisitParents(add)
	if c.HasParent() {
		for _, sub := range documented(c)[1:] {
			add(sub)
		}
	}
	for _, named := range regexp.MustCompile(`\bemberd [a-z -]+`).FindAllString(strings.Join(strings.Fields(c.Long+" ; "+c.Example), " "), -1) {
		if to, _, err := c.Root().Find(strings.Fields(named)[1:]); err == nil && to != c && cli.IsDocumented(to) {
			add(to)
		}
	}
	slices.Sort(names)
	return append(names, settingsPage+"(5)")
}

func helperPage(p *manual.Page) {
	p.Heading("Synopsis")
	p.Synopsis("emberd-llama", "--engine DIR [--model FILE [--max-tokens N]]")
	p.Heading("Description")
	p.Text("The daemon starts this program automatically when it runs a model with llama.cpp. The program is in the " +
		"same folder as emberd. You do not need to run it. It is a separate process, so a crash of native code does " +
		"not stop the daemon.\n" +
		"\n" +
		"The program reads requests from standard input and writes replies to file descriptor 3. It exits when " +
		"standard input ends.")
	p.Heading("Options")
	p.Entry(manual.Term{Name: "--engine", Value: "DIR"}, "the folder with llama.cpp's libraries.")
	p.Entry(manual.Term{Name: "--model", Value: "FILE"},
		"the GGUF file of the model; without this option, the program only tests the libraries.")
	p.Entry(manual.Term{Name: "--max-tokens", Value: "N"}, "the maximum number of tokens per text.")
	p.Entry(manual.Term{Name: "--version"}, "print the version.")
	p.Heading("Exit status")
	p.Entry(manual.Term{Name: "0"}, "standard input ended, or the libraries work.")
	p.Entry(manual.Term{Name: "1"}, "the program failed; standard error contains the reason.")
	p.Entry(manual.Term{Name: "2"}, "emberd did not start the program.")
	p.Heading("See also")
	p.References([]string{"emberd-model-runtime(1)", "emberd-serve(1)", settingsPage + "(5)"})
}

// settingsText is docs/reference/configuration.md as a page.
func settingsText(p *manual.Page) error {
	p.Heading("Description")
	if err := p.Markdown(config.Reference()); err != nil {
		return memory.Errorf(memory.Internal, "cannot write the manual page of the settings: %w", err)
	}
	p.Heading("See also")
	p.References([]string{"emberd(1)", "emberd-config(1)", "emberd-config-set(1)", "emberd-serve(1)"})
	return nil
}
