package vault_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "emberd/internal/testutil/racescale"
	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/linkindex"
	"emberd/vault/markdown"
)

// renamedIn returns the notes after one of them got another path, with the links that follow it.
func renamedIn(t *rapid.T, v *vault.Vault, all map[string]string, from, to string) (map[string]string, error) {
	r := indexOf(all).Rename(from, to)
	out := make(map[string]string)
	for name, text := range all {
		var failed error
		done, _, err := v.Relink([]byte(text), func(l markdown.Link) (vault.Target, bool) {
			now, alias, ok := r.Target(name, l.Target)
			if !ok {
				failed = fmt.Errorf("no target for %q in %s", l.Target, name)
			}
			target := vault.Target{Name: now}
			if alias {
				target.Text = l.Target
			}
			return target, ok && now != l.Target
		})
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		if string(done) != text && !slices.Contains(r.Sources(), name) {
			t.Fatalf("%s changed and is not among the sources %q", name, r.Sources())
		}
		if name == from {
			name = to
		}
		out[name] = string(done)
	}
	return out, nil
}

func read(name, text string) *vault.Note {
	return vault.Parse(markdown.NewParser().Read, vault.File{Path: name, Size: int64(len(text))}, []byte(text))
}

func indexOf(all map[string]string) *linkindex.Index {
	links := linkindex.New()
	for name, text := range all {
		n := read(name, text)
		var targets []string
		for _, l := range n.Links {
			targets = append(targets, l.Target)
		}
		links.Add(name, n.Aliases, targets)
	}
	return links
}

// leads returns where each link of each note leads, "" for nowhere.
func leads(all map[string]string) map[string][]string {
	index, out := indexOf(all), make(map[string][]string)
	for name, text := range all {
		for _, l := range read(name, text).Links {
			to, _ := index.Resolve(name, l.Target)
			out[name] = append(out[name], to)
		}
	}
	return out
}

var linkNames = []string{"Plan 50%", "Plan (2)", "Old plan", "Plan", "plan", "Plän", "v1.2", "A&B"} // the longest of those with one beginning or end first

func anyPath(t *rapid.T) string {
	folder := rapid.SampledFrom([]string{"", "Work/", "Work/Deep er/", "Home/", "Plan/"}).Draw(t, "folder")
	return folder + rapid.SampledFrom(linkNames).Draw(t, "name") + ".md"
}

// anyLink writes one link in some form, with some target that may lead to one of the notes.
func anyLink(t *rapid.T, from string, paths []string) string {
	to := rapid.SampledFrom(paths).Draw(t, "to")
	parts := strings.Split(to, "/")
	to = strings.Join(parts[rapid.IntRange(0, len(parts)-1).Draw(t, "from part"):], "/")
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		to = "/" + to
	case 1:
		to = "./" + to
	case 2:
		to = strings.Repeat("../", 1+strings.Count(from, "/")) + to
	case 3:
		to = rapid.SampledFrom([]string{"nick", "Nick name", "nowhere"}).Draw(t, "alias") + ".md"
	}
	bare := strings.TrimSuffix(to, ".md")
	escaped := strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "%", "%25", "&", "%26").Replace(to)
	anchor := rapid.SampledFrom([]string{"", "#A heading", "#^b1"}).Draw(t, "anchor")
	link := rapid.SampledFrom([]string{
		"[[" + bare + anchor + "]]", "[[" + bare + anchor + "|shown]]", "![[" + to + anchor + "]]", "[[ " + bare + " ]]",
		"[text](" + escaped + strings.ReplaceAll(anchor, " ", "%20") + ")", "![e](<" + strings.ReplaceAll(to, "%", "%25") + ">)", "[t](" + escaped + " \"title\")",
		"[ref" + fmt.Sprint(len(to)) + "]\n\n[ref" + fmt.Sprint(len(to)) + "]: " + escaped + "\n",
		"| [[" + bare + "\\|cell]] | x |\n|---|---|\n| [[" + to + "]] | y |\n",
		"> - [[" + bare + "]] and `[[" + bare + "x]]`", "`code [[" + bare + "]]`", "\n```\n[[" + bare + "]]\n```\n", "%% [[" + bare + "]] %%",
	}).Draw(t, "link")
	return link
}

// After a renaming each link leads where it led, whatever its form, and nothing else has changed.
func TestLinksFollowARenaming(t *testing.T) {
	v := openVault(t, t.TempDir(), nil)
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		paths := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Custom(anyPath), 2, 7).Draw(t, "paths"))))
		all := make(map[string]string)
		for _, name := range paths {
			var b strings.Builder
			if rapid.Bool().Draw(t, "properties") {
				alias := rapid.SampledFrom([]string{"nick", "Nick name", "Plan", "other"}).Draw(t, "alias")
				b.WriteString("---\naliases: [" + alias + "]\nup: \"[[" + strings.TrimSuffix(paths[0], ".md") + "]]\"\n---\n")
			}
			for range rapid.IntRange(0, 4).Draw(t, "links") {
				b.WriteString("word " + anyLink(t, name, paths) + rapid.SampledFrom([]string{" and ", "\n", "\n\n"}).Draw(t, "after"))
			}
			all[name] = b.String()
		}
		from := rapid.SampledFrom(paths).Draw(t, "from")
		to := anyPath(t)
		if _, taken := all[to]; taken {
			t.Skip("the path drawn for the renamed note has a note")
		}
		before := leads(all)
		after, err := renamedIn(t, v, all, from, to)
		if bad := (*frontmatter.EditError)(nil); errors.As(err, &bad) {
			refused++
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		now := leads(after)
		for name, was := range before {
			at := name
			if name == from {
				at = to
			}
			if len(now[at]) != len(was) {
				t.Fatalf("%s has %d links and had %d:\n%s\n---\n%s", at, len(now[at]), len(was), all[name], after[at])
			}
			for i, led := range was {
				if led == from {
					led = to
				}
				if led != "" && now[at][i] != led {
					t.Fatalf("link %d of %s leads to %q, want %q, after %s became %s:\n%s\n---\n%s", i, at, now[at][i], led, from, to, all[name], after[at])
				}
			}
			if a, b := withoutTargets(all[name]), withoutTargets(after[at]); a != b {
				t.Fatalf("more than targets changed:\n%s\n---\n%s", a, b)
			}
		}
	})
	t.Logf("%d refused", refused)
}

// withoutTargets drops what a renaming may change: the names in links.
func withoutTargets(text string) string {
	text = strings.NewReplacer("%20", " ", "%28", "(", "%29", ")", "%25", "%", "%26", "&").Replace(text)
	for _, name := range linkNames {
		text = strings.ReplaceAll(text, name, "N")
	}
	for _, part := range []string{"../", "./", "Work/", "Deep er/", "Home/", "Plan/", "N/", "nick", "Nick name", "|", ".md", "/", "N"} {
		text = strings.ReplaceAll(text, part, "")
	}
	return text
}

func TestRelink(t *testing.T) {
	v := openVault(t, t.TempDir(), nil)
	change := func(l markdown.Link) (vault.Target, bool) {
		return vault.Target{Name: "New name"}, l.Target == "Old" || l.Target == "Old.md"
	}
	for note, want := range map[string]string{
		"a [[Old]] b [[Old|x]] ![[Old#H^2]]":                   "a [[New name]] b [[New name|x]] ![[New name#H^2]]",
		"[[Other]] [[Old^b]]":                                  "[[Other]] [[New name^b]]",
		"[x](Old.md) [y](<Old.md#A b>)":                        "[x](New%20name) [y](<New name#A b>)",
		"`[[Old]]` \\[[Old]] %% [[Old]] %% [[ Old ]]":          "`[[Old]]` \\[[Old]] %% [[Old]] %% [[ New name ]]",
		"    [[Old]]\n\nx [[Old]]":                             "    [[Old]]\n\nx [[New name]]",
		"\ufeff---\r\nup: \"[[Old]]\"\r\n---\r\n- [[Old]]\r\n": "\ufeff---\r\nup: \"[[New name]]\"\r\n---\r\n- [[New name]]\r\n",
		"[a][r]\n\n[r]: Old.md 'title'\n":                      "[a][r]\n\n[r]: New%20name 'title'\n",
		"no link to it: https://x/Old [u](http://Old)":         "no link to it: https://x/Old [u](http://Old)",
	} {
		got, _, err := v.Relink([]byte(note), change)
		if err != nil || string(got) != want {
			t.Errorf("%q became %q, %v, want %q", note, got, err, want)
		}
	}
	for _, note := range []string{"---\nup: [[Old]]\nx: '[[Old]]'\n---\n[[Old]]"} {
		quote := func(l markdown.Link) (vault.Target, bool) { return vault.Target{Name: "It's"}, l.Target == "Old" }
		if got, _, err := v.Relink([]byte(note), quote); !errors.As(err, new(*frontmatter.EditError)) {
			t.Errorf("%q became %q, %v, want a refusal", note, got, err)
		}
	}
}
