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
)
