// Package oracle measures package secret against gitleaks, whose default rules
// are the best known public description of what credentials look like.
//
// It is a module of its own so that gitleaks and what it needs stay out of the
// module graph of emberd. Its tests are run with
//
//	cd internal/secret/oracle && go test ./...
//
// and print the figures with -v. No token is stored: all are generated at run
// time from the rules' own patterns with a fixed seed.
package oracle
