// Package oracle has Prometheus's own parser and linter read what package metrics writes. It
// is a module of its own, so that emberd does not depend on either. Nothing imports it.
package oracle
