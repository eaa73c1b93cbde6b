// Package repair finds what a copy of the memories holds and the files of a log do not, as lines
// that bring it back: anti-entropy between a device's table, its snapshot, a backup, and the
// files of all devices.
//
// Every key of a memory is a register with the stamp of its latest write, and a delete is a
// tombstone, so two copies are compared register by register: what is older counts for nothing,
// and nothing can be missing twice. A line that comes back has the stamp of the write that it
// stands for and the verb [Verb]. It can be met beside the original without effect.
//
// Purges and tombstones come first. What was purged on either side comes back from nowhere, nor
// does what another memory said about it.
//
// What no table has comes back from the files of a backup only, as whole lines: values that were
// superseded, and the content of what is in the trash. Until then the lines that came back are marked as cut.
// What never comes back is who asked for a change, and the uses that another device counted.
package repair
