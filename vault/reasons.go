package vault

// The reasons why a note is not written at the moment.
const (
	NotQuiet      Reason = "it changed a few seconds ago and might be open in an editor"
	RecentlyOurs  Reason = "it was written a moment ago, and a program that had it open may still save over that"
	ConflictCopy  Reason = "a sync tool created a conflict copy of it; compare the two and delete one"
	MergeMarks    Reason = "it contains merge conflict markers; resolve them"
	GitBusy       Reason = "a git operation is in progress or was interrupted in the vault (lock, merge or rebase)"
	VaultReplaced Reason = "the vault's folder is gone, or another one is in its place"
)

// The reasons why a note is not written at all.
const (
	Gone         Reason = "it no longer exists"
	NameTaken    Reason = "a note with the same name exists, or one that some systems treat as the same"
	HardLinked   Reason = "it has a second name on this disk (a hard link), which would stay as it is"
	ReadOnly     Reason = "it is read-only; make it writable"
	NotYours     Reason = "your user cannot write it, or it is protected"
	NotKept      Reason = "its owner or attributes cannot be kept by your user"
	TooLarge     Reason = "it is larger than 4 MiB"
	HumanChanged Reason = "another program saved it at the same time; emberd kept that version"
	NotFolder    Reason = "a file has the name of a folder that it would lie in; rename that file"
	FolderTaken  Reason = "there is a folder that some systems take for the one it would lie in; rename that one, " +
		"or use its name"
	DiskReadOnly Reason = "the vault lies on a disk that is mounted read-only"
)
