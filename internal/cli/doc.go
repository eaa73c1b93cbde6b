// Package cli has what every command of emberd needs: the flags of all commands, exit codes,
// printing for people and as JSON, completion, questions, and the connection to the daemon. The
// packages below it have the commands, one package a group; root builds the tree of them.
//
// A command parses its flags, calls one operation and prints the answer. These rules hold for all
// commands:
//
//   - The answer goes to stdout. Hints, warnings, progress and errors go to stderr, so that a pipe
//     gets the answer alone.
//   - With --json the answer is the result object of the operation, with times in UTC, and an error
//     is a problem object on stderr. Hints are left out.
//   - Colors are for a terminal only, and NO_COLOR or TERM=dumb turns them off. On a terminal lines
//     are cut or wrapped to its width; in a pipe nothing is cut.
//   - A table has a line of capital names and one line for each item. The first column is what other
//     commands take, such as the ID.
//   - An ID is printed as its last eight characters. Commands take it whole, or four or more
//     characters of its beginning or its end, if one memory has them.
//   - An exit code never changes its meaning, and the list only grows: see [ExitMeanings]. An empty
//     list ends with 1, a wrong command line with 2.
//   - A command asks before it does what undo cannot revert, and only on a terminal. Elsewhere it
//     refuses and names the flag that answers, --yes. All else can be undone, and the hint says how.
//   - A command has one name. Earlier names are hidden and do the same. A flag that selects another
//     command of the same kind is a mode, as show --why; flags that do not fit a mode are refused.
package cli
