package vault

// The reasons why a note cannot be written as it is.
const (
	BadFrontmatter  Reason = "its frontmatter is not valid, or larger than 64 KiB or 1,000 keys; mend it"
	OpenFrontmatter Reason = "its first line is --- and no second such line follows; close the frontmatter"
	JSONFrontmatter Reason = "its frontmatter is in braces; edit a property in Obsidian, which rewrites it as lines"
	OddFrontmatter  Reason = "its frontmatter is written in a way that cannot be changed without touching the rest; simplify it"
	SharedValue     Reason = "another property refers to the value that would change; write that one out"
	BadRegion       Reason = "the marks of emberd's region in it are incomplete or there twice; restore or delete them all"
	OpenEnd         Reason = "it ends in a code block or comment that is not closed; close it"
	NotMarked       Reason = "it has not the property that makes it one of emberd's; put that back, or give the note another name"
	SplitText       Reason = "emberd's region stands in the middle of its text; move it to the end"
)

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
	TextChanged  Reason = "its text is not what it was when it was read; what it is now stays"
	NotFolder    Reason = "a file has the name of a folder that it would lie in; rename that file"
	FolderTaken  Reason = "there is a folder that some systems take for the one it would lie in; rename that one, or use its name"
	DiskReadOnly Reason = "the vault lies on a disk that is mounted read-only"
)
