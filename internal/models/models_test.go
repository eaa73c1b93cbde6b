package models

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/bert"
	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

func TestInstall(t *testing.T) {
	for _, tt := range []struct {
		name    string
		data    []byte
		engines []string
	}{
		{"for both engines", tiny(t), []string{Llama, Go}},
		{"for llama.cpp alone", pieces(t), []string{Llama}},
	} {
		for way, source := range map[string]Source{
			"from a file":     {File: file(t, "Tiny.GGUF", tt.data)},
			"from an address": {URL: serve(t, tt.data) + "/dir/Tiny.gguf?token=geheim", SHA256: strings.ToUpper(digest(tt.data))},
		} {
			t.Run(tt.name+" "+way, func(t *testing.T) {
				m := open(t)
				var last int64
				got, err := m.Install(t.Context(), source, func(done, _ int64) { last = done })
				if err != nil {
					t.Fatal(err)
				}
				if got.Name != "Tiny" || got.Path != filepath.Join(m.folder, "Tiny.gguf") || got.SHA256 != digest(tt.data) || got.Size != int64(len(tt.data)) {
					t.Errorf("Install = %+v", got)
				}
				if got.Dim != 32 || got.Pooling != "mean" || got.Weights != "F32" || got.MaxTokens == 0 || !slices.Equal(got.Engines, tt.engines) || got.Problem != "" {
					t.Errorf("Install = %+v, want the facts of the file and engines %q", got, tt.engines)
				}
				if got.Installed.IsZero() || got.Source == "" || strings.Contains(got.Source, "geheim") || got.Known != nil {
					t.Errorf("Install = %+v, want where it came from", got)
				}
				if last != got.Size {
					t.Errorf("the last progress was %d, want %d", last, got.Size)
				}
				m.holds(t, "Tiny.gguf", "Tiny.json")
				again, err := m.Find("Tiny")
				if err != nil || again.SHA256 != got.SHA256 || again.Source != got.Source {
					t.Errorf("Find = %+v, %v, want %+v", again, err, got)
				}
				if _, err := m.Verify(t.Context(), "Tiny", nil); err != nil {
					t.Errorf("Verify: %v", err)
				}
			})
		}
	}
}

func TestEnginesAreThoseThatRunIt(t *testing.T) {
	last, mean, nomic := tinybert.Tiny(), tinybert.Tiny(), tinybert.Tiny()
	last.Pooling, mean.Type, nomic.Architecture = 3, tinybert.Q8_0, "nomic-bert"
	for name, data := range map[string][]byte{"bert": tiny(t), "unigram": pieces(t), "last": written(t, last), "q8": written(t, mean), "nomic": written(t, nomic), "page": []byte("<html>")} {
		path := file(t, name+".gguf", data)
		var model Model
		_ = model.judge(path) // why there is none is not the question here
		_, native := gguf.PreflightNative(path)
		_, own := bert.Preflight(path)
		if slices.Contains(model.Engines, Llama) != (native == nil) || slices.Contains(model.Engines, Go) != (own == nil) {
			t.Errorf("%s: engines %q; llama.cpp: %v, go: %v", name, model.Engines, native, own)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	data := tiny(t)
	cut := data[:len(data)-100]
	pointer := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + digest(data) + "\nsize 1234\n")
	other := strings.Repeat("0", 64)
	for _, tt := range []struct {
		name   string
		source Source
		want   []string
	}{
		{"a web page", Source{File: file(t, "x.gguf", []byte("<!DOCTYPE html><html></html>"))}, []string{"is a web page"}},
		{"a web page from an address", Source{URL: serve(t, []byte("<!DOCTYPE html><html></html>")), SHA256: other, Name: "x"}, []string{"is a web page"}},
		{"a pointer", Source{File: file(t, "x.gguf", pointer)}, []string{"Git LFS", "x.gguf"}},
		{"a pointer from an address", Source{URL: serve(t, pointer) + "/x.gguf", SHA256: digest(pointer)}, []string{"Git LFS", "model file http"}},
		{"cut short", Source{File: file(t, "x.gguf", cut)}, []string{"x.gguf"}},
		{"wrong digest", Source{URL: serve(t, data) + "/x.gguf", SHA256: other}, []string{digest(data), other}},
		{"wrong digest of a file", Source{File: file(t, "x.gguf", data), SHA256: other}, []string{digest(data), other}},
		{"an address without a digest", Source{URL: "https://example.org/x.gguf"}, []string{"--sha256"}},
		{"a known model without a digest", Source{Known: "snowflake-arctic-embed-m"}, []string{"nobody here knows the SHA-256", "--sha256", "huggingface.co"}},
		{"no known model", Source{Known: "gpt"}, []string{`"gpt" in the catalogue`}},
		{"no file", Source{File: "/nonexistent"}, []string{"there is no file /nonexistent"}},
		{"a directory", Source{File: t.TempDir()}, []string{"is not a file"}},
		{"a bad name", Source{File: file(t, "x y.gguf", data)}, []string{`"x y" is no name`, "--name"}},
		{"the word for no model", Source{File: file(t, "x.gguf", data), Name: "none"}, []string{`"none" is no name`, "--name"}},
		{"nothing", Source{}, []string{"no model was named"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := open(t)
			_, err := m.Install(t.Context(), tt.source, nil)
			fails(t, err, tt.want...)
			m.holds(t)
		})
	}
}

func TestSameNameAgain(t *testing.T) {
	m := open(t)
	data := tiny(t)
	source := Source{URL: serve(t, data), SHA256: digest(data), Name: "m"}
	first := m.install(t, source)
	for way, again := range map[string]Source{"the address": source, "a file": {File: file(t, "m.gguf", data)}, "itself": {File: first.Path}, "itself in place of itself": {File: first.Path, Replace: true}} {
		if got := m.install(t, again); !got.Installed.Equal(first.Installed) || got.Source != first.Source {
			t.Errorf("installed again from %s: %+v, want %+v", way, got, first)
		}
	}
	other := Source{File: file(t, "m.gguf", pieces(t))}
	_, err := m.Install(t.Context(), other, nil)
	fails(t, err, "m.gguf is another file", "--replace", "--name")
	if !errors.Is(err, ErrTaken) {
		t.Errorf("Install: %v, want ErrTaken", err)
	}
	other.Replace = true
	if got := m.install(t, other); got.SHA256 != digest(pieces(t)) {
		t.Errorf("replaced by %+v", got)
	}
	// What cannot be used does not take the place of what can.
	_, err = m.Install(t.Context(), Source{File: file(t, "m.gguf", []byte("GGUF")), Replace: true}, nil)
	fails(t, err, "m.gguf")
	if _, err := m.Verify(t.Context(), "m", nil); err != nil {
		t.Errorf("Verify: %v", err)
	}
	m.holds(t, "m.gguf", "m.json")
}

// The note of what was there goes before the file does, and if it cannot, both stay.
func TestNoteNeverSpeaksOfAnotherFile(t *testing.T) {
	m := open(t)
	old := m.install(t, Source{File: file(t, "m.gguf", tiny(t))})
	if err := errors.Join(os.Remove(m.notePath("m")), os.MkdirAll(filepath.Join(m.notePath("m"), "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := m.Install(t.Context(), Source{File: file(t, "m.gguf", pieces(t)), Replace: true}, nil)
	fails(t, err, "m.json")
	if got := digest(read(t, old.Path)); got != old.SHA256 {
		t.Errorf("the model was replaced by %s though its note could not be", got)
	}
}

// A file that a person put there is a model, too, and can be taken up where it is.
func TestFileOfAPerson(t *testing.T) {
	m := open(t)
	if err := os.Mkdir(m.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	data := tiny(t)
	elsewhere := file(t, "there.gguf", data)
	mine := filepath.Join(m.folder, "mine.gguf")
	if err := errors.Join(os.WriteFile(mine, data, 0o644), os.Symlink(elsewhere, filepath.Join(m.folder, "link.gguf")),
		os.Symlink("none", filepath.Join(m.folder, "stale.gguf")), os.Symlink("loop.gguf", filepath.Join(m.folder, "loop.gguf")), os.WriteFile(filepath.Join(m.folder, "page.gguf"), []byte("<html>"), 0o644),
		os.Mkdir(filepath.Join(m.folder, "dir.gguf"), 0o700), os.Mkdir(filepath.Join(m.folder, "engines"), 0o700)); err != nil {
		t.Fatal(err)
	}
	all, err := m.List()
	if err != nil {
		t.Fatal(err)
	}
	problems := map[string]string{}
	var names []string
	for _, model := range all {
		names = append(names, model.Name)
		problems[model.Name] = model.Problem
	}
	if want := []string{"link", "loop", "mine", "page", "stale"}; !slices.Equal(names, want) {
		t.Errorf("List = %q, want %q", names, want)
	}
	if problems["link"] != "" || problems["mine"] != "" || !strings.Contains(problems["page"], "is a web page") || !strings.Contains(problems["stale"], "is a link to a file that is not there") {
		t.Errorf("problems %q", problems)
	}
	if want := "remove it with emberd model remove loop"; !strings.Contains(problems["loop"], want) {
		t.Errorf("the link to itself has the problem %q, want it to have %q", problems["loop"], want)
	}
	got, err := m.Verify(t.Context(), "mine", nil)
	if err != nil || got.SHA256 != digest(data) || got.Source != "" {
		t.Errorf("Verify = %+v, %v, want its digest and no source", got, err)
	}
	if got := m.install(t, Source{File: mine}); got.Source != mine || got.SHA256 != digest(data) {
		t.Errorf("taken up: %+v", got)
	}
	if err := m.Remove("link", ""); err != nil {
		t.Fatal(err)
	}
	if got := read(t, elsewhere); len(got) != len(data) {
		t.Error("removing a link removed what it leads to")
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	data := tiny(t)
	for _, tt := range []struct {
		name   string
		change func(path string) error
		want   string
	}{
		{"another byte", func(path string) error {
			changed := slices.Clone(data)
			changed[len(changed)-1] ^= 1
			return os.WriteFile(path, changed, 0o600)
		}, "had " + digest(data) + " when it was installed"},
		{"cut short", func(path string) error { return os.Truncate(path, 5000) }, "has 5000 bytes and had"},
		{"longer", func(path string) error { return os.Truncate(path, int64(len(data))+5) }, "bytes and had"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := open(t)
			model := m.install(t, Source{File: file(t, "m.gguf", data)})
			if err := tt.change(model.Path); err != nil {
				t.Fatal(err)
			}
			if found, err := m.Find("m"); err != nil || tt.name != "another byte" && found.SHA256 != "" {
				t.Errorf("Find = %+v, %v, want no digest for a file of another size", found, err)
			}
			got, err := m.Verify(t.Context(), "m", nil)
			fails(t, err, tt.want, "install it again with emberd model install --replace")
			if got == nil || got.Name != "m" {
				t.Errorf("Verify = %+v, want the model beside the error", got)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	m := open(t)
	model := m.install(t, Source{File: file(t, "mine.gguf", tiny(t))})
	half := model.Path + ".partial" // of what was to take its place
	if err := os.WriteFile(half, []byte("GGUF"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(model.Path, link); err != nil {
		t.Fatal(err)
	}
	for _, inUse := range []string{model.Path, link, m.folder + "/./mine.gguf"} {
		err := m.Remove("mine", inUse)
		fails(t, err, "in use", inUse)
		if !errors.Is(err, ErrInUse) {
			t.Errorf("Remove: %v, want ErrInUse", err)
		}
		if got := len(read(t, half)); got != 4 {
			t.Errorf("what broke off has %d bytes though nothing was removed, want 4", got)
		}
	}
	for _, name := range []string{"mint", "", "../models/mine", "none"} {
		if err := m.Remove(name, ""); !errors.Is(err, ErrUnknown) {
			t.Errorf("Remove(%q): %v, want ErrUnknown", name, err)
		}
	}
	_, err := m.Find("mint")
	fails(t, err, "did you mean mine?")
	if err := m.Remove("mine", "/elsewhere.gguf"); err != nil {
		t.Fatal(err)
	}
	m.holds(t)
}

func TestRemoveWhatBrokeOff(t *testing.T) {
	m := open(t)
	if err := errors.Join(os.Mkdir(m.folder, 0o700), os.WriteFile(filepath.Join(m.folder, "half.gguf.partial"), []byte("GGUF"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if all, err := m.List(); err != nil || len(all) > 0 {
		t.Errorf("List = %+v, %v, want nothing", all, err)
	}
	if err := m.Remove("half", ""); err != nil {
		t.Errorf("Remove: %v", err)
	}
	m.holds(t)
}

func TestPlan(t *testing.T) {
	m := open(t)
	k := known("all-MiniLM-L6-v2", "")
	got, err := m.Plan(Source{Known: k.Name})
	want := Plan{Name: k.Name, Path: filepath.Join(m.folder, "all-MiniLM-L6-v2.gguf"), From: k.URL, Remote: true, Size: k.Size, SHA256: k.SHA256, Known: k, source: k.URL}
	if err != nil {
		t.Fatal(err)
	}
	if got.Known == nil || got.Known.Name != k.Name {
		t.Errorf("Plan: known %+v, want %+v", got.Known, k)
	}
	got.Known = k
	if *got != want {
		t.Errorf("Plan = %+v, want %+v", *got, want)
	}
	byURL, err := m.Plan(Source{URL: k.URL})
	if err != nil || byURL.SHA256 != k.SHA256 || byURL.Known == nil || byURL.Name != "all-MiniLM-L6-v2-Q8_0" {
		t.Errorf("Plan of its address = %+v, %v, want its digest", byURL, err)
	}
	if p, err := m.Plan(Source{Known: k.Name, Name: "x.GGUF"}); err != nil || p.Name != "x" {
		t.Errorf("Plan for the name of a file = %+v, %v, want it called x", p, err)
	}
	own := strings.Repeat("1", 64)
	if p, err := m.Plan(Source{Known: "snowflake-arctic-embed-m", SHA256: own}); err != nil || p.SHA256 != own || p.Size != 0 {
		t.Errorf("Plan with a digest = %+v, %v", p, err)
	}
	m.install(t, Source{File: file(t, "x.gguf", tiny(t))})
	if p, err := m.Plan(Source{Known: k.Name, Name: "x"}); err != nil || !p.There || p.Name != "x" {
		t.Errorf("Plan for a name that is taken = %+v, %v", p, err)
	}
}

func TestFrom(t *testing.T) {
	name := file(t, "x.gguf", nil)
	for what, want := range map[string]Source{name: {File: name}, "bge-m3": {Known: "bge-m3"}, "https://example.org/x": {URL: "https://example.org/x"}} {
		if got, err := From(what); err != nil || got != want {
			t.Errorf("From(%q) = %+v, %v, want %+v", what, got, err, want)
		}
	}
	_, err := From("bge-small-en-v15")
	fails(t, err, `no model is called "bge-small-en-v15"`, "no file", "did you mean bge-small-en-v1.5?")
	if !errors.Is(err, ErrUnknown) {
		t.Errorf("From: %v, want ErrUnknown", err)
	}
	_, err = From("something else")
	fails(t, err, "emberd model list")
	if _, err = From(name + ".gguf"); errors.Is(err, ErrUnknown) {
		t.Errorf("From a file that is not there: %v, which is no name", err)
	}
	fails(t, err, "there is no file "+name+".gguf")
}

func TestCatalogue(t *testing.T) {
	names, digests := map[string]bool{}, map[string]bool{}
	for _, k := range Catalogue() {
		if !validName(k.Name) || names[k.Name] {
			t.Errorf("%s: no name of its own", k.Name)
		}
		if k.SHA256 != "" && (len(k.SHA256) != 64 || strings.Trim(k.SHA256, "0123456789abcdef") != "" || digests[k.SHA256]) {
			t.Errorf("%s: %q is no digest of its own", k.Name, k.SHA256)
		}
		if (k.SHA256 == "") != (k.Size == 0) {
			t.Errorf("%s: its size and its digest are not of one source", k.Name)
		}
		if k.Dim == 0 || k.MaxTokens == 0 || k.Licence == "" || k.Languages == "" || k.Made == "" || len(k.Engines) == 0 {
			t.Errorf("%s: %+v is not complete", k.Name, k)
		}
		if !strings.HasPrefix(k.URL, "https://") || !strings.EqualFold(filepath.Ext(k.URL), extension) {
			t.Errorf("%s: %s is no address of a model", k.Name, k.URL)
		}
		if (k.PassagePrefix != "") && k.QueryPrefix == "" {
			t.Errorf("%s: a prefix for passages and none for queries", k.Name)
		}
		names[k.Name], digests[k.SHA256] = true, true
	}
	if !names["all-MiniLM-L6-v2"] {
		t.Error("the model that the documentation names is not there")
	}
}
