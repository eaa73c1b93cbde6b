package transcript

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/text"
	"emberd/op"
)

// maxCommand bounds the bytes of a command line that is kept.
const maxCommand = 4096

// The tools that run a command line and those that change a file, by their names in lower case.
var (
	shellTools = []string{
		"bash", "shell", "local_shell", "local_shell_call", "container.exec", "shell_command", "exec_command",
		"run_shell_command", "run_command", "powershell",
	}
	fileTools = []string{
		"write", "edit", "multiedit", "notebookedit", "create", "str_replace_editor", "write_file", "replace",
		"patch", "apply_patch", "write_to_file", "replace_file_content", "multi_replace_file_content",
	}
	commandMembers = []string{"command", "cmd", "CommandLine"}
	fileMembers    = []string{"file_path", "notebook_path", "filePath", "path", "TargetFile"}
	patchMembers   = []string{"input", "patch", "patchText"}
)

// patchFile is a line of a patch in the form of apply_patch that names a file.
var patchFile = text.Pattern(`(?m)^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\r?$`)

// toolCall returns the message of a call: the tool with its command line or the files that it changes.
func toolCall(name string, input json.RawMessage, folder string) op.SessionMessage {
	m := op.SessionMessage{Role: op.RoleTool, Tool: name}
	var members map[string]json.RawMessage
	var patch string
	if json.Unmarshal(input, &members) != nil {
		_ = json.Unmarshal(input, &patch) // neither members nor a patch: nothing is known of the call
	}
	switch tool := strings.ToLower(strings.TrimPrefix(name, "default_api:")); {
	case slices.Contains(shellTools, tool):
		m.Command = commandOf(members)
		patch = m.Command
		if strings.HasPrefix(m.Command, "apply_patch") {
			m.Command = ""
		}
		m.Command = text.FirstBytes(withoutPrivate(m.Command), maxCommand)
	case slices.Contains(fileTools, tool) && textMember(members, "command") != "view":
		patch += firstText(members, patchMembers)
		if file := firstText(members, fileMembers); file != "" {
			m.Files = []string{absolute(file, folder)}
		}
	default:
		patch = ""
	}
	m.Files = append(m.Files, patchedFiles(patch, folder)...)
	return m
}

// patchedFiles returns the files that a patch names, each once.
func patchedFiles(patch, folder string) (files []string) {
	if !strings.Contains(patch, "*** Begin Patch") {
		return nil
	}
	for _, match := range patchFile().FindAllStringSubmatch(patch, -1) {
		if file := absolute(match[1], folder); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// absolute returns the path of a file in the folder of a session, or as it stands where that is not known.
func absolute(file, folder string) string {
	if folder == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(folder, file)
}

// commandOf returns the command line of a call, which may be given as a list of words.
func commandOf(members map[string]json.RawMessage) string {
	for _, name := range commandMembers {
		var words []string
		if json.Unmarshal(members[name], &words) == nil && len(words) > 0 {
			return commandLine(words)
		}
	}
	return firstText(members, commandMembers)
}

// commandLine returns the command that words run: the script where they start a shell with one.
func commandLine(words []string) string {
	if len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	return strings.Join(words, " ")
}

func firstText(members map[string]json.RawMessage, names []string) string {
	for _, name := range names {
		if value := textMember(members, name); value != "" {
			return value
		}
	}
	return ""
}

// textMember returns a member that is a text. Antigravity writes it as JSON inside of JSON.
func textMember(members map[string]json.RawMessage, name string) (value string) {
	if json.Unmarshal(members[name], &value) != nil {
		return ""
	}
	if inner := ""; strings.HasPrefix(value, `"`) && json.Unmarshal([]byte(value), &inner) == nil {
		return inner
	}
	return value
}
