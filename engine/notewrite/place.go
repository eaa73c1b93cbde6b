package notewrite

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/vault/notename"
)

// maxFolders is how many folders an error names.
const maxFolders = 10

// CheckPlace returns an error unless the caller may write notes at a path.
func (e *NoteWrite) CheckPlace(name string) error {
	if _, why := e.Notes.Vault.Root.Load().Classify(name); why != "" {
		return memory.Errorf(memory.Invalid, "invalid path %.200q: %s", name, why).At("path")
	}
	if e.Grant != nil && !e.Grant.May(access.Subject{Note: name}) {
		return memory.Errorf(memory.Forbidden,
			"token %s cannot write note %q, because %s; ask the user for a token with a folder scope", e.Grant.Token,
			name, core.WriteLimit(e.Grant)).At("path")
	}
	switch {
	case takes(name, e.Opt.VaultPromoted) && !inFolder(name, e.Opt.VaultPromoted):
		return memory.Errorf(memory.Forbidden,
			"the path of note %q contains the folder %s/ in another spelling; use the exact name of the folder", name,
			e.Opt.VaultPromoted).At("path")
	case takes(name, e.Opt.VaultArchive):
		return memory.Errorf(memory.Forbidden, "note %q is in the archive folder, or some systems treat its path "+
			"as that folder; choose another path, or change the memory instead", name).At("path")
	case slices.ContainsFunc(e.lists(), func(own string) bool { return takes(name, own) }):
		return e.errOwn(name)
	case !slices.ContainsFunc(e.folders(), func(dir string) bool { return inFolder(name, dir) }):
		return memory.Errorf(memory.Forbidden, "note %q is outside of the folders for agents (%s); choose a path in "+
			"one of these folders, or ask the user to add a folder to vault.agent_folders", name,
			e.folderList()).At("path")
	}
	return nil
}

// lists returns the paths of the notes that emberd writes itself.
func (e *NoteWrite) lists() []string {
	return []string{e.Opt.VaultIndex, e.Opt.VaultCore, e.Opt.ReviewInbox, e.Opt.VaultProjects}
}

// takes reports whether a note at a path would lie at the path own, in it as a folder, or in the place of a folder
// above it, on any system: one that takes capitals and normal forms for the same, or passes over joiners. It does not
// matter what exists. An own of "" is nothing.
func takes(name, own string) bool {
	if own = strings.Trim(path.Clean("/"+own), "/"); own == "" {
		return false
	}
	parts, owns := strings.Split(name, "/"), strings.Split(own, "/")
	for i := range min(len(parts), len(owns)) {
		if parts[i] != owns[i] {
			return everywhere(parts[i]) == everywhere(owns[i])
		}
	}
	return true
}

// everywhere returns the same string for all names that some system takes for the same.
func everywhere(name string) string {
	return notename.Fold(strings.NewReplacer("\u200c", "", "\u200d", "").Replace(name))
}

// folders returns the folders for agents, "" for the whole vault.
func (e *NoteWrite) folders() []string {
	return append([]string{e.Opt.VaultPromoted}, e.Opt.VaultAgents...)
}

func (e *NoteWrite) folderList() string {
	var all []string
	for _, dir := range e.folders()[:min(maxFolders, len(e.folders()))] {
		all = append(all, dir+"/")
	}
	return strings.Join(all, ", ")
}

// inFolder reports whether a note is in a folder or below it.
func inFolder(name, dir string) bool {
	dir = strings.Trim(path.Clean("/"+dir), "/")
	return dir == "" || strings.HasPrefix(name, dir+"/")
}

func (e *NoteWrite) errOwn(name string) error {
	return memory.Errorf(memory.Forbidden,
		"only emberd can write note %q, or some systems treat its name as the name of such a note; choose another path",
		name).At("path")
}

// newPath returns the path of a new note, with .md. Each part must be a name that every system, Obsidian's links
// and sync tools accept.
func newPath(name string) (string, error) {
	if name == "" {
		return "", memory.Errorf(memory.Invalid, "missing path; pass a path such as Agents/Plan.md").At("path")
	}
	if !strings.EqualFold(path.Ext(name), ".md") {
		name += ".md"
	}
	if !fs.ValidPath(name) {
		return "", memory.Errorf(memory.Invalid,
			"invalid path %.200q; use a path relative to the vault, such as Agents/Plan.md", name).At("path")
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		stem := part
		if i == len(parts)-1 {
			stem = notename.TrimExtension(part)
		}
		if good := notename.TrimExtension(notename.New(stem, "")); good != stem {
			return "", memory.Errorf(memory.Invalid, "invalid name %.200q in the path; use %.200q", stem,
				good).At("path")
		}
	}
	return notename.TrimExtension(name) + ".md", nil
}

// one returns the path of the note that a caller named and can read, and an error if several have that name.
func (e *NoteWrite) one(ctx context.Context, name string) (string, error) {
	path, err := e.named(ctx, name)
	if err != nil || path == name {
		return path, err
	}
	links, err := e.Notes.Vault.AllLinks(ctx)
	if err != nil {
		return "", err
	}
	if all := links.Meanings(e.Notes.Vault.Inside(name)); len(all) > 1 && slices.Contains(all, path) {
		return "", memory.Errorf(memory.Ambiguous, "%d notes have the name %.80q; pass the path of the note", len(all),
			name).At("path").About(all...)
	}
	return path, nil
}

// named returns the path of the note that a caller named and can read.
func (e *NoteWrite) named(ctx context.Context, name string) (string, error) {
	if strings.TrimSpace(name) == "" {
		return "", memory.Errorf(memory.Invalid, "missing path; pass the path, name or alias of a note").At("path")
	}
	return e.Notes.NotePath(ctx, name)
}
