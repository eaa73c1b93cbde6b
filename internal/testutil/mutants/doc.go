// Package mutants holds no product code. Its test removes from the log, one at
// a time, every sync, every check and every order of steps that its promises
// rest on, and demands that the tests of the log notice each. So it does with what
// keeps the memories of agents apart.
//
// A mutant is a piece of source and what stands there instead, built with the
// -overlay flag of the go command, so that the product has no switches. A piece
// that is no longer found exactly once fails the test: mutants follow the code.
//
// make mutants prints, for each, the test that killed it.
package mutants
