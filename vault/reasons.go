package vault

// The reasons why a note is not written at the moment.
const (
	NotQuiet      Reason = "it changed in the last few seconds, and somebody may be at work in it"
	RecentlyOurs  Reason = "it was written a moment ago, and a program that had it open may still save over that"
	ConflictCopy  Reason = "a sync tool left a second copy of it; compare the two and delete one"
	MergeMarks    Reason = "it holds the marks of a merge that is not finished; resolve them"
	GitBusy       Reason = "git is at work in the vault, or was broken off: a lock, merge or rebase is there"
	VaultReplaced Reason = "the vault's folder is gone, or another one is in its place"
)

// The reasons why a note is not written at all.
const (
	Gone         Reason = "it is not there any more"
	NameTaken    Reason = "there is a note of that name, or of one that some systems take for the same"
	HardLinked   Reason = "it has a second name on this disk (a hard link), which would stay as it is"
	ReadOnly     Reason = "it is read-only; make it writable"
	NotYours     Reason = "your user may not write it, or it is protected"
	NotKept      Reason = "its owner or attributes cannot be kept by your user"
	TooLarge     Reason = "it is larger than 4 MiB"
	HumanChanged Reason = "somebody saved it at the same time; what they saved stays"
	NotFolder    Reason = "a file has the name of a folder that it would lie in; rename that file"
	FolderTaken  Reason = "there is a folder that some systems take for the one it would lie in; rename that one, " +
		"or use its name"
	DiskReadOnly Reason = "the vault lies on a disk that is mounted read-only"
)
