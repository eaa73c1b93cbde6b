package data

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/importer"
	"emberd/memory"
)

// foreignCommands are the imports of what internal/importer reads.
func foreignCommands(s *cli.App) []*cobra.Command {
	const file, export = "one file, or - for stdin", "one file, archive or folder, or - for stdin"
	const store, database = "one file or folder, or - for stdin", "one database, or its folder"
	var out []*cobra.Command
	for _, src := range []foreignSource{
		basicMemorySource(),
		{use: "chroma FILE|FOLDER|-", arg: store, of: [2]string{"record", "records"},
			read: readEither(importer.Chroma, importer.ChromaDatabase)},
		{use: "mem0 FILE|FOLDER|-", arg: store, of: [2]string{"memory", "memories"},
			read: readEither(importer.Mem0, importer.Mem0History)},
		{use: "claude-mem FILE|FOLDER", arg: database, of: [2]string{"memory", "memories"},
			read: readDatabase(importer.ClaudeMem)},
		{use: "mcp-memory-service FILE|FOLDER", arg: database, of: [2]string{"memory", "memories"},
			read: readDatabase(importer.MCPMemoryService)},
		{use: "qdrant FILE|-", arg: file, of: [2]string{"point", "points"}, read: readFile(importer.Qdrant)},
		{use: "notes FILE|-", arg: file, of: [2]string{"item", "items"}, read: readFile(importer.Notes)},
		{use: "chatgpt FILE|ZIP|FOLDER|-", arg: export, of: [2]string{"memory", "memories"},
			read: readExport(importer.ChatGPT, importer.ChatGPTArchive)},
		{use: "claude FILE|ZIP|FOLDER|-", arg: export, of: [2]string{"memory", "memories"},
			read: readExport(importer.Claude, importer.ClaudeArchive)},
	} {
		out = append(out, foreignCommand(s, src))
	}
	return out
}

func basicMemorySource() foreignSource {
	var each bool
	return foreignSource{
		use: "basic-memory FOLDER",
		arg: "the folder of the notes",
		of:  [2]string{"note", "notes and observations"},
		read: func(ctx context.Context, r *foreignImport, name string) (*importer.Result, error) {
			if name == "" { // as an unset variable in quotes is
				return nil, memory.Errorf(memory.Invalid, "missing folder name; pass the folder of the notes")
			}
			if !each {
				r.report.of = [2]string{"note", "notes"}
			}
			haul, err := importer.BasicMemory(ctx, name, &importer.BasicMemoryOptions{Options: r.options(),
				Observations: each})
			return haul, unreadable(name, err)
		},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&each, "observations", false, "")
		},
	}
}

// fileReader reads what is in a file.
type fileReader = func(io.Reader, *importer.Options) (*importer.Result, error)

// sourceReader reads the argument of a command.
type sourceReader = func(context.Context, *foreignImport, string) (*importer.Result, error)

// readFile reads one file, or stdin.
func readFile(read fileReader) sourceReader {
	return func(ctx context.Context, r *foreignImport, name string) (*importer.Result, error) {
		return r.fileOf(ctx, name, read)
	}
}

// databaseReader reads a database, or the folder that contains it.
type databaseReader = func(context.Context, string, *importer.Options) (*importer.Result, error)

// readDatabase reads the database of another program.
func readDatabase(read databaseReader) sourceReader {
	return func(ctx context.Context, r *foreignImport, name string) (*importer.Result, error) {
		o := r.options()
		haul, err := read(ctx, name, &o)
		return haul, unreadable(name, err)
	}
}

// readEither reads a database or a folder by the one function, and any other file, or stdin, by the other.
func readEither(plain fileReader, database databaseReader) sourceReader {
	return func(ctx context.Context, r *foreignImport, name string) (*importer.Result, error) {
		if name != "-" && importer.IsDatabase(name) {
			return readDatabase(database)(ctx, r, name)
		}
		return r.fileOf(ctx, name, plain)
	}
}

// readExport reads a file, or an archive that holds such.
func readExport(plain fileReader, archive func(context.Context, string, *importer.Options) (*importer.Result,
	error)) sourceReader {
	return func(ctx context.Context, r *foreignImport, name string) (*importer.Result, error) {
		if name == "-" || !archived(name) && !isFolder(name) {
			if base := filepath.Base(name); strings.HasPrefix(base, "conversations") && filepath.Ext(base) == ".json" {
				return nil, memory.Errorf(memory.Invalid,
					"%s contains conversations and no saved memories; pass the file with the memories, or its archive",
					base)
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
