// Package text has what every part of emberd needs to know about a text in any language:
// where its sentences end, how to shorten it, and how to put it on one line.
//
// All functions are pure, accept text that is not valid UTF-8, and never cut a letter. The
// terms of a search are in internal/text/analysis, hidden characters in
// internal/text/invisible, and misspelt words in internal/text/spelling.
package text
