// Package bench measures the real daemon: emberd is built from this tree, started
// as a process of its own in a fresh folder, and spoken to through its socket.
// It has tests only, of four kinds:
//
//   - Benchmarks, which make bench runs. What is compared is measured in turns
//     within one run, so that a disk or a neighbour that gets slower in between
//     slows all of it, and is reported as a ratio.
//   - Comparisons and curves, which need installed programs or an hour: make bench-peers, make figures,
//     make bench-daemons.
//   - Proofs (make proof), which take minutes and run when EMBERD_PROOF is set.
//   - Evaluations (make eval), which need judged questions that cannot be
//     distributed with the source and run when EMBERD_SETS names their folder.
//
// What they print is kept in docs/performance.md and docs/internals/evaluation.md.
package bench
