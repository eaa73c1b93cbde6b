package vault

// The reasons why a note is not written at the moment.
const (
	NotQuiet      Reason = "it changed a few seconds ago and might be open in an editor"
	RecentlyOurs  Reason = "emberd wrote it a moment ago, and a program that opened it earlier might still overwrite it"
	ConflictCopy  Reason = "a sync tool created a conflict copy of it; compare the two and delete one"
	MergeMarks    Reason = "it contains merge conflict markers; resolve them"
	GitBusy       Reason = "a git operation in the vault is in progress or was interrupted (lock, merge or rebase)"
	VaultReplaced Reason = "the vault folder is missing, or another folder replaced it"
)

// The reasons why a note is not written at all.
const (
	Gone         Reason = "it no longer exists"
	NameTaken    Reason = "a note or folder has the same name, or a name that some file systems treat as the same"
	HardLinked   Reason = "it has a second name on this disk (a hard link), which would keep the old text"
	ReadOnly     Reason = "it is read-only; make it writable"
	NotYours     Reason = "your user cannot write it, or it is protected; change its permissions"
	NotKept      Reason = "your user cannot preserve its owner or attributes"
	TooLarge     Reason = "it is larger than 4 MiB"
	HumanChanged Reason = "another program saved it at the same time; emberd kept that version"
	NotFolder    Reason = "a file has the same name as one of its folders; rename the file"
	FolderTaken  Reason = "some file systems treat one of its folders and an existing folder as the same; rename the " +
		"existing folder, or use its name"
	DiskReadOnly Reason = "the disk of the vault is mounted read-only; remount it read-write"
)
