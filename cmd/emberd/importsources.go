package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/foreign"
	"emberd/memory"
)

// foreignCommands are the imports of what internal/foreign reads.
func (s *state) foreignCommands() []*cobra.Command {
	var out []*cobra.Command
	for _, src := range []foreignSource{basicMemorySource(), chromaSource(), qdrantSource(), notesSource(), chatGPTSource(), claudeSource()} {
		out = append(out, s.foreignCommand(src))
	}
	return out
}

func basicMemorySource() foreignSource {
	var each bool
	return foreignSource{
		use:   "basic-memory FOLDER",
		short: "Import the notes of basic-memory",
		long: `Import the folder of a project of basic-memory. A note becomes one memory with
its text, tags, type and times, and every wikilink a relation, "- type
[[Target]] (context)" one of that type, any other one of the type links_to.
Permalinks, titles and paths go on naming the memories. The notes are read and
left as they are.

With --observations every "- [category] text #tag (context)" becomes a memory as
well, with its category, tags and context, related to its note.

The whole run is one journal entry, so one undo takes it all back, and a second
run adds nothing that is there.`,
		example: `  emberd import basic-memory ~/basic-memory --dry-run
  emberd import basic-memory ~/basic-memory --observations --tag imported`,
		arg: "the folder of the notes",
		of:  [2]string{"note", "notes and observations"},
		read: func(ctx context.Context, r *foreignImport, name string) (*foreign.Haul, error) {
			if name == "" { // as an unset variable in quotes is
				return nil, memory.Errorf(memory.Invalid, "the name of the folder is empty; name the folder of the notes")
			}
			if !each {
				r.report.of = [2]string{"note", "notes"}
			}
			haul, err := foreign.BasicMemory(ctx, name, &foreign.BasicMemoryOptions{Options: r.options(), Observations: each})
			return haul, unreadable(name, err)
		},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&each, "observations", false, "make a memory of every observation as well")
		},
	}
}

func chromaSource() foreignSource {
	return foreignSource{
		use:   "chroma FILE|-",
		short: "Import a collection of ChromaDB",
		long: `Import what collection.get() of ChromaDB returns as JSON, or stdin for "-": ids,
documents and metadatas. Lists of objects with an id, a text and metadata come
in too. category, confidence, source, type, added_at, tags, session_id, access
counts and related_memories have fields here; other metadata is kept in meta.
Ids go on naming the memories; vectors are left out. Write the file like this:

  python3 -c 'import chromadb, json; c = chromadb.PersistentClient("PATH");
  print(json.dumps(c.get_collection("NAME").get()))' > NAME.json

The whole run is one journal entry, so one undo takes it all back, and a second
run adds nothing that is there.`,
		example: `  emberd import chroma knowledge.json --dry-run
  emberd import chroma preferences.json --collection preferences`,
		arg:  "one file, or - for stdin",
		of:   [2]string{"record", "records"},
		read: readFile(foreign.Chroma),
	}
}

func qdrantSource() foreignSource {
	return foreignSource{
		use:   "qdrant FILE|-",
		short: "Import points of a collection of Qdrant",
		long: `Import points of Qdrant as JSON, or stdin for "-": answers of its scroll
endpoint one after the other, lists of points, or a backup of manual entries.
entityType, name and content or observations of a payload become type, name and
text, points with from, to and relationType relations, and all else is kept in
meta. What an indexer left there (file_path, ast_data and the like) stays, so
that a cleanup leaves these memories alone. Ids and names go on naming the
memories; vectors are left out.

The whole run is one journal entry, so one undo takes it all back, and a second
run adds nothing that is there.`,
		example: `  curl -s localhost:6333/collections/NAME/points/scroll \
      -H 'Content-Type: application/json' \
      -d '{"limit": 100000, "with_payload": true}' | emberd import qdrant -
  emberd import qdrant points.json --collection project --dry-run`,
		arg:  "one file, or - for stdin",
		of:   [2]string{"point", "points"},
		read: readFile(foreign.Qdrant),
	}
}

func notesSource() foreignSource {
	return foreignSource{
		use:   "notes FILE|-",
		short: "Import a notes.md of memory tools for agents",
		long: `Import a notes.md with the sections Key Topics, Important Facts, People &
Entities, Ongoing Threads and File Knowledge, or stdin for "-". Every item of
their lists becomes a memory of that section, as old as the file says that it
is. In a core.md the items below Identity, Projects, Relationships and System
become core memories. What stands above the sections is left out and told of.

The whole run is one journal entry, so one undo takes it all back, and a second
run adds nothing that is there.`,
		example: `  emberd import notes memory/notes.md --dry-run
  emberd import notes memory/core.md`,
		arg:  "one file, or - for stdin",
		of:   [2]string{"item", "items"},
		read: readFile(foreign.Notes),
	}
}

func chatGPTSource() foreignSource {
	return foreignSource{
		use:   "chatgpt FILE|ZIP|FOLDER|-",
		short: "Import memories that ChatGPT saved",
		long: `Import the memories that ChatGPT saved: the archive of an export of the account
or the folder it was unpacked into, the memory.json in it, or a text with one
memory a line, or stdin for "-". Not every export has them; then copy the list
under Settings > Personalization > Manage memories into a text file. A date in
brackets before a memory is when it was saved, and a heading above some of them
is their category. Conversations are no memories, and are not read.

The whole run is one journal entry, so one undo takes it all back, and a second
run adds nothing that is there.`,
		example: `  emberd import chatgpt export.zip --dry-run
  emberd import chatgpt memories.txt --tag chatgpt`,
		arg:  "one file, archive or folder, or - for stdin",
		of:   [2]string{"memory", "memories"},
		read: readExport(foreign.ChatGPT, foreign.ChatGPTArchive),
	}
}

func claudeSource() foreignSource {
	return foreignSource{
		use:   "claude FILE|ZIP|FOLDER|-",
		short: "Import what Claude remembers",
		long: `Import what Claude remembers: the archive of an export of the account or the
folder it was unpacked into, the memories.json in it, or the text of a memory,
or stdin for "-". Its texts are taken apart: each paragraph and each item of a
list becomes a memory, with the heading above it as its category and the name of
its project. A date in brackets before a memory is when it was saved.
Conversations are no memories, and are not read.

The whole run is one journal entry, so one undo takes it all back, and a second
run adds nothing that is there.`,
		example: `  emberd import claude data-2026-01-15.zip --dry-run
  emberd import claude memory.md --tag claude`,
		arg:  "one file, archive or folder, or - for stdin",
		of:   [2]string{"memory", "memories"},
		read: readExport(foreign.Claude, foreign.ClaudeArchive),
	}
}

// fileReader reads what is in a file.
type fileReader = func(io.Reader, *foreign.Options) (*foreign.Haul, error)

// sourceReader reads the argument of a command.
type sourceReader = func(context.Context, *foreignImport, string) (*foreign.Haul, error)

// readFile reads one file, or stdin.
func readFile(read fileReader) sourceReader {
	return func(ctx context.Context, r *foreignImport, name string) (*foreign.Haul, error) {
		return r.fileOf(ctx, name, read)
	}
}

// readExport reads a file, or an archive that holds such.
func readExport(plain fileReader, archive func(context.Context, string, *foreign.Options) (*foreign.Haul, error)) sourceReader {
	return func(ctx context.Context, r *foreignImport, name string) (*foreign.Haul, error) {
		if name == "-" || !archived(name) && !isFolder(name) {
			if base := filepath.Base(name); strings.HasPrefix(base, "conversations") && filepath.Ext(base) == ".json" {
				return nil, memory.Errorf(memory.Invalid, "%s holds conversations and no saved memories; name the file with the memories, or the archive that it came in", base)
			}
			return r.fileOf(ctx, name, plain)
		}
		o := r.options()
		haul, err := archive(ctx, name, &o)
		return haul, unreadable(name, err)
	}
}

// unreadable is what somebody can mend about a source that cannot be read.
func unreadable(name string, err error) error {
	if err == nil || memory.CodeOf(err) != memory.Internal {
		return err
	}
	return memory.Errorf(memory.Invalid, "%s: %w", filepath.Base(name), err)
}
