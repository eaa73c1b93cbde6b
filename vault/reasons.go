package vault

// The reasons why a note is not written at the moment.
const (
	NotQuiet     Reason = "the note changed a few seconds ago and might be open in an editor"
	RecentlyOurs Reason = "emberd wrote the note a moment ago, and a program that opened the note earlier might " +
		"still overwrite it"
	ConflictCopy Reason = "a sync tool created a conflict copy of the note; compare " +
		"the two notes and delete one of them"
	MergeMarks    Reason = "the note contains merge conflict markers; resolve the conflicts"
	GitBusy       Reason = "a git operation in the vault is in progress or was interrupted (lock, merge or rebase)"
	VaultReplaced Reason = "the vault folder is missing, or another folder replaced it"
)

// The reasons why a note is not written at all.
const (
	Gone         Reason = "the note no longer exists"
	NameTaken    Reason = "another note or folder has the same name, or a name that some file systems treat as the same"
	HardLinked   Reason = "the note has a second name on this disk (a hard link), which would keep the old text"
	ReadOnly     Reason = "the note is read-only; make the note writable"
	NotYours     Reason = "your user cannot write the note, or the note is protected; change its permissions"
	NotKept      Reason = "your user cannot preserve the owner or attributes of the note"
	TooLarge     Reason = "the note is larger than 4 MiB"
	HumanChanged Reason = "another program saved the note at the same time; emberd kept the version of that program"
	NotFolder    Reason = "a file has the same name as a folder in the path of the note; rename the file"
	FolderTaken  Reason = "some file systems treat a folder in the path of the note and an existing folder as the " +
		"same; rename the existing folder, or use its name"
	DiskReadOnly Reason = "the disk of the vault is mounted read-only; remount it read-write"
)
