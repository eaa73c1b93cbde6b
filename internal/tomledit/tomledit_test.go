package tomledit_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/tomledit"
)

var members = []tomledit.Member{
	{Key: "command", Value: "/opt/bin/emberd"}, {Key: "args", Value: []string{"mcp", `--home`, `/a "b"`}},
}

const table = "[mcp_servers.emberd]\ncommand = \"/opt/bin/emberd\"\nargs = [\"mcp\", \"--home\", \"/a \\\"b\\\"\"]\n"

const settings = `# how I like it
model = "gpt-5" # the new one

[mcp_servers.files]
command = "files"   # mine
args = [
  "/src", # all of it
]

# what I trust
[projects."/home/ada"]
trust_level = "trusted"
`

func set(t testing.TB, text string) string {
	t.Helper()
	out, err := tomledit.Set([]byte(text), members, "mcp_servers", "emberd")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return string(out)
}

func remove(t testing.TB, text string) string {
	t.Helper()
	out, err := tomledit.Remove([]byte(text), "mcp_servers", "emberd")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return string(out)
}

// A new table comes last, and removed again it leaves no trace.
func TestANewTable(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{
		"":                            table,
		settings:                      settings + "\n" + table,
		"a = 1":                       "a = 1\n\n" + strings.TrimSuffix(table, "\n"),
		"a = 1\n\n\n\n":               "a = 1\n\n\n\n\n" + table,
		"\n\n":                        "\n\n\n" + table,
		"a = 1\r\n":                   "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n"),
		"[mcp_servers]\n":             "[mcp_servers]\n\n" + table,
		"[[tool]]\nmcp_servers = 1\n": "[[tool]]\nmcp_servers = 1\n\n" + table,
	} {
		got := set(t, before)
		if got != after {
			t.Errorf("%q became\n%s\nwant\n%s", before, got, after)
		}
		if again := set(t, got); again != got {
			t.Errorf("set again, it became\n%s", again)
		}
		if back := remove(t, got); back != before {
			t.Errorf("removed again, it is\n%q\nwant\n%q", back, before)
		}
	}
	if back := remove(t, settings+"\n"+table); back != settings {
		t.Errorf("removed again, the settings are\n%s", back)
	}
}

// Values of keys that are there are replaced where they stand; what a user added stays.
func TestATableThatIsThere(t *testing.T) {
	t.Parallel()
	const before = `[mcp_servers."emberd"]  # memory
command='/old/emberd' # old
startup_timeout_sec = 20

[mcp_servers.emberd.env]
A = "b"

# next
[other]
`
	after := strings.Replace(before, "'/old/emberd'", `"/opt/bin/emberd"`, 1)
	after = strings.Replace(after, "_sec = 20\n", "_sec = 20\nargs = [\"mcp\", \"--home\", \"/a \\\"b\\\"\"]\n", 1)
	if got := set(t, before); got != after {
		t.Errorf("it became\n%s\nwant\n%s", got, after)
	}
	if got := remove(t, "x = 1\n\n"+before); got != "x = 1\n\n# next\n[other]\n" {
		t.Errorf("without it there is\n%s", got)
	}
	dotted := "mcp_servers.emberd.command = \"a\"\nmcp_servers.emberd.args = [\n  \"b\",\n]\nmcp_servers.x.command = \"c\"\n"
	if got := remove(t, dotted); got != "mcp_servers.x.command = \"c\"\n" {
		t.Errorf("without dotted keys there is\n%s", got)
	}
	v, ok, err := tomledit.Get([]byte(before), "mcp_servers", "emberd", "env", "A")
	if v != "b" || !ok || err != nil {
		t.Errorf("the value is %v, %v, %v", v, ok, err)
	}
}

// What cannot be changed without touching other bytes is refused, and so is what is no TOML.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mcp_servers = { a = { command = \"x\" } }\n":      "its own [header] line",
		"mcp_servers = { emberd = { command = \"x\" } }\n": "its own [header] line",
		"mcp_servers = 3\n":                                "its own [header] line",
		"[a]\n[a\n":                                        "line 2",
		"a = 1\na = 2\n":                                   "line 2",
	} {
		if got, err := tomledit.Set([]byte(text), members, "mcp_servers", "emberd"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q became %q, %v; want an error with %q", text, got, err, want)
		}
	}
}

// A table in braces is not taken out: the braces can hold what is somebody else's.
func TestRemoveRefusesBraces(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"mcp_servers = { emberd = { command = \"x\" } }\n",
		"# mine\na = 1\nmcp_servers = { f = { command = \"f\" }, emberd = { command = \"x\" } } # all\n\n[t]\n",
		"mcp_servers = { emberd.command = \"x\" }",
	} {
		if got, err := tomledit.Remove([]byte(text), "mcp_servers", "emberd"); !errors.Is(err, tomledit.ErrShape) {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"mcp_servers.emberd = { command = \"x\" }\nmcp_servers.f = { command = \"f\" }\n": "mcp_servers.f = { command = \"f\" }\n",
		"[mcp_servers]\nemberd = { command = \"x\" }\nf.command = \"f\"\n":                "[mcp_servers]\nf.command = \"f\"\n",
	} {
		if got := remove(t, text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// FuzzRemove feeds documents that nobody would write. What comes back lacks the table and is otherwise made of the
// bytes that were there, in their order; a table that was added and is removed again leaves no trace.
func FuzzRemove(f *testing.F) {
	for _, text := range []string{
		"", settings, settings + "\n" + table, "a = 1\r\n\r\n\r\n[mcp_servers.emberd]\r\nx = 1\r\n\r\n[b]",
		"mcp_servers = { emberd = { command = \"x\" } }", "mcp_servers.emberd.x = '''\n[mcp_servers.emberd]\n'''",
		"[[mcp_servers]]\n[mcp_servers.emberd]\n", "[ mcp_servers . 'emberd' ] # c\n[mcp_servers.emberd.env]\n# d",
		"mcp_servers.emberd = []\n", "[[mcp_servers.emberd]]\na = nan\n[[mcp_servers.emberd]]\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := []string{"mcp_servers", "emberd"}
		_, there, err := tomledit.Get(text, path...)
		if err != nil {
			return
		}
		removed, err := tomledit.Remove(text, path...)
		if err == nil {
			checkRemoved(t, text, removed, path)
		}
		added, err := tomledit.Set(text, members, path...)
		if err != nil || there {
			return
		}
		if !bytes.HasPrefix(added, text) {
			t.Fatalf("with the table %q is %q", text, added)
		}
		if back, err := tomledit.Remove(added, path...); err != nil || !bytes.Equal(back, text) {
			t.Fatalf("%q became %q and then %q (%v)", text, added, back, err)
		}
	})
}

func checkRemoved(t *testing.T, text, removed []byte, path []string) {
	if _, ok, err := tomledit.Get(removed, path...); ok || err != nil {
		t.Fatalf("%q became %q, where it still is (%v)", text, removed, err)
	}
	rest := text
	for _, c := range removed {
		i := bytes.IndexByte(rest, c)
		if i < 0 {
			t.Fatalf("%q became %q, which has other bytes", text, removed)
		}
		rest = rest[i+1:]
	}
}

// Whatever the document is made of, the lines that are not the table's stay, and in their order.
func TestOtherLinesStay(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"# a comment\n", "\n", "[a]\nb = 1 # c\n", "[mcp_servers.x]\nargs = [ # d\n 'e', 'f' ]\n", "[\"q.r\"]\n\"s t\" = \"\"\"u\n[v]\n\"\"\"\n",
		"[mcp_servers.emberd.env]\nA = '#'\n", "[w]\r\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.Permutation(pieces).Draw(t, "pieces")[:rapid.IntRange(0, len(pieces)).Draw(t, "n")], "")
		out, err := tomledit.Set([]byte(text), members, "mcp_servers", "emberd")
		if err != nil {
			return // with the table in another form
		}
		rest := strings.Split(string(out), "\n")
		for line := range strings.SplitSeq(text, "\n") {
			i := index(rest, strings.TrimRight(line, "\r"))
			if i < 0 {
				t.Fatalf("line %q of %q is missing or moved in %q", line, text, out)
			}
			rest = rest[i+1:]
		}
		back, err := tomledit.Remove(out, "mcp_servers", "emberd")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "emberd") {
			return
		}
		if got, want := strings.Fields(string(back)), strings.Fields(text); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %q", text, back)
		}
	})
}

func index(lines []string, line string) int {
	for i := range lines {
		if strings.TrimRight(lines[i], "\r") == line {
			return i
		}
	}
	return -1
}
