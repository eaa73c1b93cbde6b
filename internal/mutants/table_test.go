package mutants

func mutants() []mutant {
	var all []mutant
	for _, part := range [][]mutant{writing(), doubting(), segments(), recovering(), snapshots(), compacting(), forgetting(), past(), primitives(), notes(), remembering()} {
		all = append(all, part...)
	}
	return all
}

// writing is the path of a batch to the disk.
func writing() []mutant {
	const file = "stm/writer.go"
	return []mutant{
		{"sync of a batch", file, "if err := w.sync(w.active.f); err != nil {\n\t\treturn w.rewrite", "if err := error(nil); err != nil {\n\t\treturn w.rewrite", crashes},
		{"error of that sync", file, "\t\treturn w.rewrite(before, err)\n", "\t\tw.log.Warn(\"not synced\", \"error\", err)\n", crashes},
		{"new file after a failed sync", file, "\t\treturn w.rewrite(before, err)\n", "\t\tif err := w.sync(w.active.f); err != nil {\n\t\t\treturn w.rewrite(before, err)\n\t\t}\n", crashes},
		{"sync of a batch written again", file, "if _, err = w.active.f.Write(w.buf); err == nil {\n\t\t\terr = w.sync(w.active.f)\n\t\t}\n", "_, err = w.active.f.Write(w.buf)\n", crashes},
		{"write of a batch written again", file, "if _, err = w.active.f.Write(w.buf); err == nil {\n\t\t\terr = w.sync(w.active.f)\n\t\t}\n", "err = w.sync(w.active.f)\n", crashes},
		{"error of a batch written again", file, "\t\tif err == nil {\n\t\t\treturn nil\n\t\t}\n\t\tw.poison(before)", "\t\tif err == nil || w.active != nil {\n\t\t\treturn nil\n\t\t}\n\t\tw.poison(before)", crashes},
		{"error of a write", file, "\t\tw.seq = before\n\t\treturn refused\n", "\t\t_ = refused\n", crashes},
		{"truncation after a failed write", file, "err := w.active.f.Truncate(w.active.size)", "var err error", crashes},
		{"error of that truncation", file, "\treturn err == nil\n}\n\n// poison", "\treturn true\n}\n\n// poison", days},
		{"sync before the answer", file, "\terr := w.store(batch, use)\n", "\tfor _, p := range batch {\n\t\tclose(p.done)\n\t\tp.done = make(chan struct{})\n\t}\n\terr := w.store(batch, use)\n", crashes},
		{"sync before the table", file, "\terr := w.store(batch, use)\n", "\tfor _, p := range batch {\n\t\tw.settle(p)\n\t\tp.rows = nil\n\t}\n\terr := w.store(batch, use)\n", crashes},
		{"uses given back after a failure", file, "\t\tw.s.uses.giveBack(use)\n", "\t\t_ = use\n", crashes},
		{"writing of what is queued at the end", file, "\t\t\tw.drain()\n", "", crashes},
		{"look whether the folder is the same", "stm/segment.go", "\tif err := w.present(); err != nil {\n\t\treturn err\n\t}\n", "", damage},
		{"look whether the segment is the same", file, "\t\tw.poison(w.seq)\n\t}\n\treturn nil\n}\n\n// here", "\t}\n\treturn nil\n}\n\n// here", damage},
	}
}

// doubting is what becomes of a batch that may be on the disk, and of a device that
// may have a log.
func doubting() []mutant {
	return []mutant{
		{"memory of numbers given up", "stm/writer.go", "\t\tw.lost = append(w.lost, [2]uint64{before + 1, w.seq})\n", "", doubts},
		{"memory of what is in doubt", "stm/writer.go", "\t\tw.doubtful = append(w.doubtful, batch...)\n", "", doubts},
		{"writing of what is in doubt before all else", "stm/segment.go", "if err := w.repeat(); err != nil || s == nil {", "if err := error(nil); err != nil || s == nil {", doubts},
		{"sync of what was in doubt", "stm/doubt.go", "\tif err := w.sync(w.active.f); err != nil {\n\t\tw.poison(w.seq)", "\tif err := error(nil); err != nil {\n\t\tw.poison(w.seq)", doubts},
		{"look at what is in doubt before a change", "stm/update.go", "\tif err = s.certain(ctx); err != nil {\n\t\treturn Receipt{}, err\n\t}\n", "", doubts},
		{"sync of names that a killed process left", "stm/recover.go", "\t\treturn r.s.fs.SyncDir(dir)\n", "\t\treturn nil\n", firsts},
		{"first number used again", "stm/store.go", "\t\tw.lastSegment = 0 //", "\t\t//", firsts},
		{"identity that is forgotten and not gone", "stm/device.go", "\t\terr = d.save(fsys)\n\t}\n\tif err != nil {\n\t\treturn fmt.Errorf(\"forget", "\t\terr = fsys.Remove(path)\n\t}\n\tif err != nil {\n\t\treturn fmt.Errorf(\"forget", restoring},
	}
}

// segments begin and end.
func segments() []mutant {
	const file = "stm/segment.go"
	const reserve = "\t\tif err := w.dev.reserve(w.s.fs, number, stamp); err != nil {\n\t\t\treturn err\n\t\t}\n"
	return []mutant{
		{"reservation of a segment's number", file, reserve, "", crashes},
		{"error of that reservation", "stm/device.go", "\t\td.Segment, d.Heads = segment, heads // not reserved, and so not to be used\n", "\t\t_, _ = segment, heads\n", crashes},
		{"reservation before the segment", file, reserve, "\tdefer func() { _ = w.dev.reserve(w.s.fs, number, stamp) }()\n", crashes},
		{"sync of the log's folder", file, "\treturn w.s.fs.SyncDir(w.dir)\n", "\treturn nil\n", crashes},
		{"error of that sync of the folder", file, "\treturn w.s.fs.SyncDir(w.dir)\n", "\t_ = w.s.fs.SyncDir(w.dir)\n\treturn nil\n", crashes},
		{"number of the next segment", file, "\tw.lastSegment, w.lost = number, nil\n", "\tw.lost = nil\n", rotating},
		{"device identity on the disk", "stm/device.go", "\tif err := d.save(fsys); err != nil {", "\tif err := error(nil); err != nil {", crashes},
		{"error of reading the device identity", "stm/device.go", "\t\treturn nil, fmt.Errorf(\"read device identity: %w\", err)\n\t}\n\tvar d device", "\t\treturn nil, nil\n\t}\n\tvar d device", crashes},
	}
}

// recovering reads the log back.
func recovering() []mutant {
	const file = "stm/recover.go"
	return []mutant{
		{"checksum of a line", "stm/record.go", "\t\treturn errChecksum\n", "\t\treturn nil\n", damage},
		{"sync of what a killed process wrote", file, "\tif err := r.keep(name, in.off); err != nil {\n\t\treturn err\n\t}\n", "", crashes},
		{"error of reading an own file", file, "\t\treturn fmt.Errorf(\"read %s: %w\", dir, err)\n", "\t\treturn nil\n", crashes},
		{"error in the middle of a file", file, "\t\t\treturn in, fmt.Errorf(\"read segment %s at %d: %w\", name, in.off, err)\n", "\t\t\treturn in, nil\n", crashes},
		{"last line without its line feed", file, "\tgood, err := mend(b)\n", "\tgood, err := mend(b)\n\tif !whole {\n\t\terr = errChecksum\n\t}\n", damage},
		{"going on after a damaged line", file, "\t\tr.count.Quarantined++\n", "\t\tr.count.Quarantined++\n\t\tpanic(\"damaged\")\n", damage},
		{"numbers that were used", file, "\tlast = max(own.last(), r.lost.last(), r.upto)\n", "\tlast = max(r.lost.last(), r.upto)\n", starts},
		{"stamps that were used", file, "\tr.clock.observe(l.stamp)\n\tif r.s.review", "\tif r.s.review", starts},
		{"check of a line read for undo", "stm/journal.go", "\tb, err = mend(b)\n\tif err != nil {", "\tif err != nil {", damage},
	}
}

// snapshots save a start from reading.
func snapshots() []mutant {
	const file = "stm/snapshot.go"
	return []mutant{
		{"checksum of the snapshot", file, "\t\treturn nil, errChecksum\n", "", damage},
		{"comparison of covered files", file, "\t\t\tif s.ours(m.name) {\n\t\t\t\treturn err\n\t\t\t}\n", "", damage},
		{"checksum of the file being written", "stm/cursor.go", "m.growing && m.beginning(fsys) == m.sum", "m.growing", damage},
		{"inode and time of covered files", "stm/cursor.go", "!m.growing && markOf(m.name, info) == *m", "!m.growing && info.Size() == m.size", damage},
		{"places after the cursor left out of the journal", file, "\t\tif c.covers(r.at) {\n\t\t\trefs = append(refs, r)\n\t\t}\n", "\t\trefs = append(refs, r)\n", damage},
		{"places after the cursor left out of the trash", file, "return !c.covers(g.at)", "return false", damage},
	}
}

// compacting folds files into one.
func compacting() []mutant {
	return []mutant{
		{"sync of a compacted file", "stm/outputs.go", "\t\terr = t.f.Sync()\n", "\t\t_ = t.f\n", folding},
		{"sync of its name", "stm/outputs.go", "\t\t\terr = r.s.fs.SyncDir(r.s.ownDir())\n", "\t\t\t_ = r\n", verifying},
		{"reading back of what was written", "stm/rewrite.go", "\tv, err := r.verify()\n\tif err != nil {", "\tv, err := r.verify()\n\tif v == nil {\n\t\tv = &verified{graves: map[[16]byte]grave{}}\n\t}\n\tif false {", verifying},
		{"check that inputs are what was folded", "stm/replaced.go", "return i >= 0 && s.hasCRC(filepath.Join(dir, name), list[i].CRC)", "return i >= 0", verifying},
		{"check that the replacement is whole", "stm/replaced.go", "\th, err := s.inspect(ctx, filepath.Join(dir, base))\n", "\th, err := s.readHeader(filepath.Join(dir, base))\n", verifying},
	}
}

// forgetting leaves fingerprints, and the key that they need.
func forgetting() []mutant {
	const file, record = "stm/forgotten.go", "stm/record.go"
	const made = "\tif err := durable.ReplaceFile(s.fs, s.keyPath(s.device), secret); err != nil {\n\t\treturn err\n\t}\n"
	return []mutant{
		{"fingerprint in the line of a delete", record, "\t\tb = l.changes[0].appendPrint(b)\n", "", prints},
		{"fingerprint in the line of several deletes", record, "\t\tb = c.appendPrint(b)\n", "", prints},
		{"lift in a line", record, "\tif len(l.lift) > 0 {\n", "\tif false {\n", prints},
		{"lift of a line read back", "stm/recover.go", "\ts.table.lift(l.lift, l.stamp)\n", "", prints},
		{"lift of a line just written", "stm/writer.go", "\tw.s.table.lift(p.line.lift, p.line.stamp)\n", "", prints},
		{"fingerprint in the snapshot", "stm/codec.go", "\to.forgot = d.forgot()\n", "\t_ = d.forgot()\n", prints},
		{"fingerprint of a purge that is carried out", "stm/redact.go", "rev: o.rev, forgot: o.forgot}", "rev: o.rev}", prints},
		{"fingerprint of a tombstone cut short", "stm/emit.go", "\t\tleft.print = c.print\n", "", prints},
		{"lift of a line cut short", "stm/emit.go", "\tshort.changes, short.lift, short.cut = left, lift, true\n", "\tshort.changes, short.lift, short.cut = left, nil, true\n", prints},
		{"tombstone with a fingerprint kept", "stm/tombstones.go", "row.dead() && !row.fingerprinted() &&", "row.dead() &&", prints},
		{"fingerprints compared after a compaction", "stm/fold.go", "\t\te.print, e.printed = row.print, row.printed\n", "", prints},
		{"lifts compared after a compaction", "stm/fold.go", "\te.purged, e.lifted = row.purged, row.lifted\n", "\te.purged = row.purged\n", prints},
		{"latest delete in the trash", "stm/table.go", "c.buries() && next.rest().tomb == l.stamp ||", "c.buries() ||", prints},
		{"error of making the key", file, made, "\t_ = durable.ReplaceFile(s.fs, s.keyPath(s.device), secret)\n", forgets},
		{"sync of the key", file, made, "\tf, err := s.fs.CreateAppend(s.keyPath(s.device))\n\tif err != nil {\n\t\treturn err\n\t}\n\tif _, err := f.Write(secret); err != nil {\n\t\treturn err\n\t}\n", prints},
		{"sync of a key's name that a killed process left", file, "\tif err := s.fs.SyncDir(s.peersDir()); err != nil {\n\t\treturn err\n\t}\n", "", prints},
		{"error of reading the key", file, "\tcase err != nil:\n\t\treturn err\n\t}\n\tif err := s.fs.SyncDir", "\tcase err != nil:\n\t\treturn s.makeKey()\n\t}\n\tif err := s.fs.SyncDir", prints},
	}
}

// past is what the log tells of an earlier moment.
func past() []mutant {
	const file = "stm/past.go"
	return []mutant{
		{"end of the past at its moment", file, "\tcase !at.after(r.at):\n", "\tcase !at.after(forever()):\n", pasts},
		{"uses after the moment left out", file, "\tif at.after(r.at) {\n\t\tmoment", "\tif at.after(forever()) {\n\t\tmoment", pasts},
		{"what was purged left out of the past", file, "case !at.after(r.s.table.purgedAt(key)) || c.op == opPurge:", "case c.op == opPurge:", pasts},
		{"what was superseded put in again", file, "\t\tr.row(key).superseded(c, at)\n", "", pasts},
		{"what was deleted put in again", file, "\t\trow.ended = encode(prior.Keys)\n", "", pasts},
		{"another look when a file is gone", file, "\t\tif errors.Is(err, fs.ErrNotExist) {\n", "\t\tif errors.Is(err, fs.ErrNotExist) && ctx == nil {\n", pasts},
		{"answer about the past given anew", "stm/writer.go", "\tw.s.tellPast(&p.line)\n", "", pasts},
		{"since when nothing is left out", "stm/rewrite.go", "\tif since := h.since(); since.After(f.since) {\n", "\tif since := h.since(); false {\n", pasts},
	}
}

// primitives are the file operations that the log is built from.
func primitives() []mutant {
	const replaceFile = "internal/durable/replace.go"
	return []mutant{
		{"sync of a replacement", replaceFile, "\tif err == nil {\n\t\terr = f.Sync()\n\t}\n", "", replace},
		{"sync of a replacement's folder", replaceFile, "if err := fsys.SyncDir(filepath.Dir(name)); err != nil {", "if err := error(nil); err != nil {", replace},
		{"error of a replacement's sync", replaceFile, "\t\terr = f.Sync()\n", "\t\t_ = f.Sync()\n", replace},
		{"sync before the rename", replaceFile, "\tif err := writeTemp(fsys, temp, write); err != nil {\n\t\treturn fmt.Errorf(\"replace %s: %w\", name, err)\n\t}\n\tif err := fsys.Rename(temp, name); err != nil {", "\tif err := writeTemp(fsys, temp+\"x\", write); err != nil {\n\t\treturn fmt.Errorf(\"replace %s: %w\", name, err)\n\t}\n\tf, err := fsys.CreateAppend(temp)\n\tif err == nil {\n\t\terr = write(f)\n\t}\n\tdefer func() { _ = f.Sync() }()\n\tif err := fsys.Rename(temp, name); err != nil {", replace},
		{"temporary file", replaceFile, "\ttemp := filepath.Join(filepath.Dir(name), tempPrefix+rand.Text()+tempSuffix)\n", "\t_ = rand.Text\n\t_ = fsys.Remove(name)\n\ttemp := name\n", replace},
		{"sync of a new folder's parent", "internal/durable/mkdir.go", "\treturn fsys.SyncDir(parent)\n", "\treturn nil\n", replace},
		{"sync of a found folder's parent", "internal/durable/mkdir.go", "\t\treturn syncFoundParent(fsys, parent)\n", "\t\treturn nil\n", replace},
		{"system call of a file's sync", "internal/durable/os.go", "\treturn syncData(f.File)\n", "\treturn nil\n", replace},
		{"system call of a folder's sync", "internal/durable/os.go", "if err := dir.Sync(); err != nil {", "if err := error(nil); err != nil {", replace},
		{"system call of a sync by name", "internal/durable/os.go", "errors.Join(syncData(f.(*os.File)), f.Close())", "f.Close()", replace},
		{"exclusive creation", "internal/durable/os.go", "os.O_CREATE | os.O_EXCL |", "os.O_CREATE |", replace},
		{"exclusive rename", "internal/durable/os_linux.go", "unix.AT_FDCWD, newname, unix.RENAME_NOREPLACE", "unix.AT_FDCWD, newname, 0", replace},
	}
}

// notes are changed while a human may be saving them.
func notes() []mutant {
	return []mutant{
		{"sync before the exchange", "vault/writer.go", "\tif err == nil {\n\t\terr = w.notes.SyncFile(name)\n\t}\n", "", displacing},
		{"sync of the displaced file", "vault/swap.go", "if err := w.notes.SyncFile(r.Temp); err != nil && displaced != odd {", "if err := error(nil); err != nil {", displacing},
		{"sync of what was discarded", "vault/swap.go", "\tif err := w.notes.SyncDir(r.dir()); err != nil && !errors.Is(err, fs.ErrNotExist) {\n\t\treturn err\n\t}\n\treturn w.forget(r)\n", "\treturn w.forget(r)\n", displacing},
		{"check for a torn text", "vault/swap.go", "r.crashed && torn(data)", "r.crashed && data == nil && torn(data)", displacing},
	}
}

// remembering is what agents add, which must neither be merged with what says something
// else nor count for more than whoever said it.
func remembering() []mutant {
	return []mutant{
		{"look at what tells an addition from what is known", "engine/add.go", "sayer(n.all, a.e.opt.Known.Add, s.apart)", "sayer(n.all, a.e.opt.Known.Add, func(*near) string { return \"\" })", adding},
		{"look at the words that two texts exchange", "engine/disagree.go", "\tif exchanging(s.words, s.e.wordsIn(one.text)) {\n", "\tif false {\n", adding},
		{"how alike a text has to be", "engine/reinforce.go", " || one.similarity < threshold && !one.same:", ":", adding},
		{"look at what tells an echo from what was recalled", "engine/echo.go", "(similarity == 1 || conflict.Differ(", "(similarity > 0 || conflict.Differ(", echoing},
		{"refusal of a circle of successors", "engine/supersede.go", "if err := e.circle(row, rows[i]); err != nil {", "if err := error(nil); err != nil {", superseding},
		{"end of a circle that two devices made", "engine/successor.go", "return path[1:max(1, i+1+oldestWord(path[i:]))]", "return path[1:]", superseding},
		{"refusal of a model's confirmation", "engine/confirm.go", "\tif by.Via == viaMCP {\n", "\tif false {\n", confirming},
		{"look whether there is something to confirm", "engine/confirm.go", "if err != nil || !m.DataOnly() {", "if err != nil {", confirming},
		{"hold on what a tool says of itself", "engine/standing.go", "\tcase m.DataOnly():\n\t\treturn onlyData(m)\n", "", confirming},
		{"folding of equal links", "memory/learn.go", "i := slices.IndexFunc(chain, s.Equal)", "i := -1", learning},
		{"count of links that a full chain drops", "memory/learn.go", "\t\tm.SourcesDropped += s.Count()\n", "\t\t_ = s\n", learning},
	}
}
