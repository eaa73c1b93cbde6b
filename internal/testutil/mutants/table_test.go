package mutants

func mutants() []mutant {
	var all []mutant
	for _, part := range [][]mutant{writing(), doubting(), segments(), recovering(), snapshots(), compacting(),
		forgetting(), past(), primitives(), notes(), remembering()} {
		all = append(all, part...)
	}
	return all
}

// writing is the path of a batch to the disk.
func writing() []mutant {
	return []mutant{
		{"sync of a batch", "stm/wal/writer.go",
			"if err := w.sync(w.active.f); err != nil {\n\t\treturn w.repeatInNewSegment",
			"if err := error(nil); err != nil {\n\t\treturn w.repeatInNewSegment", crashes},
		{"error of that sync", "stm/wal/writer.go", "\t\treturn w.repeatInNewSegment(before, err)\n",
			"\t\tw.S.Logger.Warn(\"not synced\", \"error\", err)\n", crashes},
		{"new file after a failed sync", "stm/wal/writer.go", "\t\treturn w.repeatInNewSegment(before, err)\n",
			"\t\tif err := w.sync(w.active.f); err != nil {\n\t\t\treturn w.repeatInNewSegment(before, err)\n\t\t}\n",
			crashes},
		{"sync of a batch written again", "stm/wal/writer.go",
			"if _, err = w.active.f.Write(w.buf); err == nil {\n\t\t\terr = w.sync(w.active.f)\n\t\t}\n",
			"_, err = w.active.f.Write(w.buf)\n", crashes},
		{"write of a batch written again", "stm/wal/writer.go",
			"if _, err = w.active.f.Write(w.buf); err == nil {\n\t\t\terr = w.sync(w.active.f)\n\t\t}\n",
			"err = w.sync(w.active.f)\n", crashes},
		{"error of a batch written again", "stm/wal/writer.go",
			"\t\tif err == nil {\n\t\t\treturn nil\n\t\t}\n\t\tw.abandonSegment(before, err)",
			"\t\tif err == nil || w.active != nil {\n\t\t\treturn nil\n\t\t}\n\t\tw.abandonSegment(before, err)", crashes},
		{"error of a write", "stm/wal/writer.go", "\t\tw.seq = before\n\t\treturn refused\n", "\t\t_ = refused\n",
			crashes},
		{"truncation after a failed write", "stm/wal/writer.go", "err := w.active.f.Truncate(w.active.size)",
			"var err error", crashes},
		{"error of that truncation", "stm/wal/writer.go", "\treturn err == nil\n}\n\n// abandonSegment",
			"\treturn true\n}\n\n// abandonSegment", days},
		{"sync before the answer", "stm/wal/writer.go", "\terr := w.store(batch, use)\n",
			"\tfor _, p := range batch {\n\t\tclose(p.Done)\n\t\tp.Done = make(chan struct{})\n\t}\n\terr := " +
				"w.store(batch, use)\n", crashes},
		{"sync before the table", "stm/wal/writer.go", "\terr := w.store(batch, use)\n",
			"\tfor _, p := range batch {\n\t\tw.publish(p)\n\t\tp.Rows = nil\n\t}\n\terr := w.store(batch, use)\n",
			crashes},
		{"uses given back after a failure", "stm/wal/writer.go", "\t\tw.S.Uses.giveBack(use)\n", "\t\t_ = use\n",
			crashes},
		{"writing of what is queued at the end", "stm/wal/writer.go", "\t\t\tw.drain()\n", "", crashes},
		{"look whether the folder is the same", "stm/wal/segment.go",
			"\tif err := w.present(); err != nil {\n\t\treturn err\n\t}\n\ts, now := w.active", "\ts, now := w.active", damage},
		{"look whether the segment is the same", "stm/wal/writer.go",
			"\t\tw.abandonSegment(w.seq, damage)\n", "", damage},
		{"look whether the segment is as long as it was written", "stm/wal/segment.go",
			"\tcase info.Size() != w.active.size:\n", "\tcase false:\n", damage},
	}
}

// doubting is what becomes of a batch that may be on the disk, and of a device that
// may have a log.
func doubting() []mutant {
	return []mutant{
		{"memory of numbers given up", "stm/wal/writer.go",
			"\t\tw.lost = append(w.lost, [2]uint64{before + 1, w.seq})\n", "", doubts},
		{"memory of what is in doubt", "stm/wal/writer.go", "\t\tw.doubtful = append(w.doubtful, batch...)\n", "",
			doubts},
		{"writing of what is in doubt before all else", "stm/wal/segment.go",
			"if err := w.repeat(); err != nil || s == nil {", "if err := error(nil); err != nil || s == nil {", doubts},
		{"sync of what was in doubt", "stm/wal/indeterminate.go",
			"\tif err := w.sync(w.active.f); err != nil {\n\t\tw.abandonSegment(w.seq, err)",
			"\tif err := error(nil); err != nil {\n\t\tw.abandonSegment(w.seq, err)", doubts},
		{"look at what is in doubt before a change", "stm/update.go",
			"\tif err = s.wal.CheckDurable(ctx); err != nil {\n\t\treturn wal.Receipt{}, err\n\t}\n", "", doubts},
		{"sync of names that a killed process left", "stm/wal/recover.go", "\t\treturn r.s.FS.SyncDir(dir)\n",
			"\t\treturn nil\n", firsts},
		{"first number used again", "stm/wal/log.go", "\t\tw.lastSegment = 0 //", "\t\t//", firsts},
		{"identity that is forgotten and not gone", "stm/device/identity.go",
			"\t\td.path, d.Forgotten = path, true\n\t\terr = d.save(fsys)\n",
			"\t\terr = fsys.Remove(path)\n", restoring},
	}
}

// segments begin and end.
func segments() []mutant {
	return []mutant{
		{"reservation of a segment's number", "stm/wal/segment.go",
			"\t\tif err := w.Dev.Reserve(w.S.FS, number, stamp); err != nil {\n\t\t\treturn err\n\t\t}\n", "", crashes},
		{"error of that reservation", "stm/device/identity.go",
			"\t\td.Segment, d.Heads = segment, heads // not reserved, and so not to be used\n",
			"\t\t_, _ = segment, heads\n", crashes},
		{"reservation before the segment", "stm/wal/segment.go",
			"\t\tif err := w.Dev.Reserve(w.S.FS, number, stamp); err != nil {\n\t\t\treturn err\n\t\t}\n",
			"\tdefer func() { _ = w.Dev.Reserve(w.S.FS, number, stamp) }()\n", crashes},
		{"sync of the log's folder", "stm/wal/segment.go", "\treturn w.S.FS.SyncDir(w.Dir)\n", "\treturn nil\n",
			crashes},
		{"error of that sync of the folder", "stm/wal/segment.go", "\treturn w.S.FS.SyncDir(w.Dir)\n",
			"\t_ = w.S.FS.SyncDir(w.Dir)\n\treturn nil\n", crashes},
		{"number of the next segment", "stm/wal/segment.go", "\tw.lastSegment, w.lost, w.kept = number, nil, nil\n",
			"\tw.lost, w.kept = nil, nil\n", rotating},
		{"device identity on the disk", "stm/device/identity.go", "\tif err := d.save(fsys); err != nil {",
			"\tif err := error(nil); err != nil {", crashes},
		{"error of reading the device identity", "stm/device/identity.go",
			"\t\treturn nil, fmt.Errorf(\"cannot read the device identity: %w\", err)\n\t}\n\tvar d Identity",
			"\t\treturn nil, nil\n\t}\n\tvar d Identity", crashes},
	}
}

// recovering reads the log back.
func recovering() []mutant {
	return []mutant{
		{"checksum of a line", "stm/record/line.go", "\t\treturn ErrChecksum\n", "\t\treturn nil\n", damage},
		{"sync of what a killed process wrote", "stm/wal/recover.go",
			"\tif err := r.keep(name, in.Off); err != nil {\n\t\treturn err\n\t}\n", "", crashes},
		{"error of reading an own file", "stm/wal/recover.go", "\t\treturn fmt.Errorf(\"read %s: %w\", dir, err)\n",
			"\t\treturn nil\n", crashes},
		{"error in the middle of a file", "stm/wal/recover.go",
			"\t\t\treturn in, fmt.Errorf(\"cannot read log segment %s at byte %d: %w\", name, in.Off, err)\n", "\t\t\treturn in, nil\n",
			reading},
		{"last line without its line feed", "stm/wal/recover.go", "\tgood, err := record.Trim(b)\n",
			"\tgood, err := record.Trim(b)\n\tif !whole {\n\t\terr = record.ErrChecksum\n\t}\n", damage},
		{"counting a damaged line", "stm/wal/recover.go", "\tr.count.Quarantined++\n", "", damage},
		{"numbers that were used", "stm/wal/recover.go", "\tlast = max(own.Last(), r.lost.Last(),",
			"\tlast = max(r.lost.Last(),", starts},
		{"stamps that were used", "stm/wal/recover.go", "\tr.clock.Observe(l.Stamp)\n\tif r.s.Review",
			"\tif r.s.Review", starts},
		{"check of a line read for undo", "stm/journal/journal.go", "\tb, err = record.Trim(b)\n\tif err != nil {",
			"\tif err != nil {", damage},
	}
}

// snapshots save a start from reading.
func snapshots() []mutant {
	return []mutant{
		{"checksums of the snapshot", "stm/snapshot/file.go",
			"sumOf(b[size:]) != e.sums || !bytes.Equal(blockSums(b[:size]), b[size:])", "len(b) < 0", damage},
		{"comparison of covered files", "stm/wal/snapshot.go",
			"\t\t\tif s.Ours(f.Name) {\n\t\t\t\treturn err\n\t\t\t}\n", "", damage},
		{"checksum of the file being written", "stm/snapshot/mark.go", "m.Growing && extent.Sum(fsys, m.Name, m.Size) == m.Sum",
			"m.Growing && extent.Sum(fsys, m.Name, m.Size) >= 0", damage},
		{"inode and time of covered files", "stm/snapshot/mark.go", "!m.Growing && MarkOf(m.Name, info) == *m",
			"!m.Growing && info.Size() == m.Size", damage},
		{"places after the cursor left out of the journal", "stm/snapshot/write.go",
			"w.c.Meta.Files.Covers(r.At) && !yield(r)", "!yield(r)", damage},
		{"places after the cursor left out of the trash", "stm/snapshot/write.go", "return !w.c.Meta.Files.Covers(g.At)",
			"return false", damage},
	}
}

// compacting folds files into one.
func compacting() []mutant {
	return []mutant{
		{"sync of a compacted file", "compaction/outputs.go", "\t\terr = t.f.Sync()\n", "\t\t_ = t.f\n", folding},
		{"sync of its name", "compaction/outputs.go", "\t\t\terr = r.FS.SyncDir(r.Dir)\n", "\t\t\t_ = r\n", verifying},
		{"reading back of what was written", "compaction/rewrite.go", "\tv, err := r.verify()\n\tif err != nil {",
			"\tv, err := r.verify()\n\tif v == nil {\n\t\tv = &verified{deletes: " +
				"map[[16]byte]record.LineRef{}}\n\t}\n\tif false {", verifying},
		{"check that inputs are what was folded", "compaction/standsfor.go",
			"return i >= 0 && hasCRC(fsys, filepath.Join(dir, name), list[i].CRC)", "return i >= 0", verifying},
		{"check that the replacement is whole", "compaction/standsfor.go",
			"\th, err := Inspect(ctx, fsys, filepath.Join(dir, base))\n",
			"\tl, err := record.FirstLine(fsys, filepath.Join(dir, base))\n\th, _ := record.DecodeHeader(l.Data)\n",
			verifying},
	}
}

// forgetting leaves fingerprints, and the key that they need.
func forgetting() []mutant {
	return []mutant{
		{"fingerprint in the line of a delete", "stm/record/line.go", "\t\tb = l.Changes[0].appendPrint(b)\n", "",
			prints},
		{"fingerprint in the line of several deletes", "stm/record/line.go", "\t\tb = c.appendPrint(b)\n", "", prints},
		{"lift in a line", "stm/record/line.go", "\tif len(l.Lift) > 0 {\n", "\tif false {\n", prints},
		{"lift of a line read back", "stm/wal/recover.go", "\ts.Table.ClearFingerprint(l.Lift, l.Stamp)\n", "", prints},
		{"lift of a line just written", "stm/wal/writer.go",
			"\tw.S.Table.ClearFingerprint(p.Line.Lift, p.Line.Stamp)\n", "", prints},
		{"fingerprint in the snapshot", "stm/table/rowcodec.go", "\t}\n\to.Forgot = decodeForgot(d)\n",
			"\t}\n\t_ = decodeForgot(d)\n", prints},
		{"fingerprint of a purge that is carried out", "stm/table/purges.go", "rev: o.rev, Forgot: o.Forgot}",
			"rev: o.rev}", prints},
		{"fingerprint of a tombstone cut short", "compaction/emit.go", "\t\tleft.Print = c.Print\n", "", prints},
		{"lift of a line cut short", "compaction/emit.go",
			"\tshort.Changes, short.Lift, short.Cut, short.Packed = left, lift, true, e.packs(l, left)\n",
			"\tshort.Changes, short.Lift, short.Cut, short.Packed = left, nil, true, e.packs(l, left)\n", prints},
		{"tombstone with a fingerprint kept", "compaction/tombstones.go", "row.dead() && !row.fingerprinted() &&",
			"row.dead() &&", prints},
		{"fingerprints compared after a compaction", "compaction/fold.go",
			"\t\te.print, e.printed = row.print, row.printed\n", "", prints},
		{"lifts compared after a compaction", "compaction/fold.go",
			"memoryDigest{purged: row.purged, lifted: row.lifted}", "memoryDigest{purged: row.purged}", prints},
		{"latest delete in the trash", "stm/table/table.go", "c.IsDelete() && next.Rest().Tomb == l.Stamp ||",
			"c.IsDelete() ||", prints},
		{"error of making the key", "stm/device/keys.go",
			"\tif err := durable.ReplaceFile(s.FS, s.KeyPath(s.Device), secret); err != nil {\n\t\treturn err\n\t}\n",
			"\t_ = durable.ReplaceFile(s.FS, s.KeyPath(s.Device), secret)\n", forgets},
		{"sync of the key", "stm/device/keys.go",
			"\tif err := durable.ReplaceFile(s.FS, s.KeyPath(s.Device), secret); err != nil {\n\t\treturn err\n\t}\n",
			"\tf, err := s.FS.CreateAppend(s.KeyPath(s.Device))\n\tif err != nil {\n\t\treturn err\n\t}\n\tif _, " +
				"err := f.Write(secret); err != nil {\n\t\treturn err\n\t}\n", prints},
		{"sync of a key's name that a killed process left", "stm/device/keys.go",
			"\tif err := s.FS.SyncDir(s.PeersDir()); err != nil {\n\t\treturn err\n\t}\n", "", prints},
		{"error of reading the key", "stm/device/keys.go",
			"\tcase err != nil:\n\t\treturn err\n\t}\n\tif err := s.FS.SyncDir",
			"\tcase err != nil:\n\t\treturn s.makeKey()\n\t}\n\tif err := s.FS.SyncDir", prints},
	}
}

// past is what the log tells of an earlier moment.
func past() []mutant {
	return []mutant{
		{"end of the past at its moment", "stm/history/past.go", "\tcase !at.After(r.at):\n",
			"\tcase !at.After(record.MaxStamp()):\n", pasts},
		{"uses after the moment left out", "stm/history/past.go", "\tif at.After(r.at) {\n\t\tmoment",
			"\tif at.After(record.MaxStamp()) {\n\t\tmoment", pasts},
		{"what was purged left out of the past", "stm/history/past.go",
			"case !at.After(r.s.Table.PurgedAt(key)) || c.Op == record.OpPurge:", "case c.Op == record.OpPurge:",
			pasts},
		{"what was superseded put in again", "stm/history/past.go", "\t\tr.row(key).superseded(c, at)\n", "", pasts},
		{"what was deleted put in again", "stm/history/past.go", "\t\trow.ended = record.Encode(prior.Keys)\n", "",
			pasts},
		{"another look when a file is gone", "stm/history/past.go", "\t\tif errors.Is(err, fs.ErrNotExist) {\n",
			"\t\tif errors.Is(err, fs.ErrNotExist) && ctx == nil {\n", pasts},
		{"answer about the past given anew", "stm/wal/writer.go", "\tw.S.notePast(&p.Line)\n", "", pasts},
		{"since when nothing is left out", "compaction/rewrite.go",
			"\tif since := h.HistorySince(); since.After(f.since) {\n", "\tif since := h.HistorySince(); false {\n",
			pasts},
	}
}

// primitives are the file operations that the log is built from.
func primitives() []mutant {
	const replaceFile = "internal/durable/replace.go"
	return []mutant{
		{"sync of a replacement", replaceFile, "\tif err == nil {\n\t\terr = f.Sync()\n\t}\n", "", replace},
		{"sync of a replacement's folder", replaceFile, "if err := fsys.SyncDir(filepath.Dir(name)); err != nil {",
			"if err := error(nil); err != nil {", replace},
		{"error of a replacement's sync", replaceFile, "\t\terr = f.Sync()\n", "\t\t_ = f.Sync()\n", replace},
		{"sync before the rename", replaceFile,
			"\tif err := fsys.Rename(temp, name); err != nil {",
			"\ttemp += \"x\"\n\tf, err := fsys.CreateAppend(temp)\n\tif err == nil {\n\t\terr = write(f)\n\t}\n" +
				"\tdefer func() { _ = f.Sync() }()\n\tif err := fsys.Rename(temp, name); err != nil {",
			replace},
		{"temporary file", replaceFile,
			"\ttemp := filepath.Join(filepath.Dir(name), tempPrefix+rand.Text()+tempSuffix)\n",
			"\t_ = rand.Text\n\t_ = fsys.Remove(name)\n\ttemp := name\n", replace},
		{"sync of a new folder's parent", "internal/durable/mkdir.go", "\treturn fsys.SyncDir(parent)\n",
			"\treturn nil\n", replace},
		{"sync of a found folder's parent", "internal/durable/mkdir.go", "\t\treturn syncFoundParent(fsys, parent)\n",
			"\t\treturn nil\n", replace},
		{"system call of a file's sync", "internal/durable/os.go", "\treturn syncData(f.File)\n", "\treturn nil\n",
			replace},
		{"system call of a folder's sync", "internal/durable/os.go", "if err := dir.Sync(); err != nil {",
			"if err := error(nil); err != nil {", replace},
		{"system call of a sync by name", "internal/durable/os.go", "errors.Join(syncData(f.(*os.File)), f.Close())",
			"f.Close()", replace},
		{"exclusive creation", "internal/durable/os.go", "os.O_CREATE | os.O_EXCL |", "os.O_CREATE |", replace},
		{"exclusive rename", "internal/durable/os_linux.go", "unix.AT_FDCWD, newname, unix.RENAME_NOREPLACE",
			"unix.AT_FDCWD, newname, 0", replace},
	}
}

// notes are changed while a human may be saving them.
func notes() []mutant {
	return []mutant{
		{"sync before the exchange", "vault/writer.go", "\tif err == nil {\n\t\terr = w.notes.SyncFile(name)\n\t}\n",
			"", displacing},
		{"sync of the displaced file", "vault/swap.go",
			"if err := w.notes.SyncFile(r.Temp); err != nil && displaced != odd {",
			"if err := error(nil); err != nil {", displacing},
		{"sync of what was discarded", "vault/swap.go",
			"\tif err := w.notes.SyncDir(r.dir()); err != nil && !errors.Is(err, fs.ErrNotExist) {\n\t\treturn " +
				"err\n\t}\n\treturn w.forget(r)\n", "\treturn w.forget(r)\n", displacing},
		{"check for a torn text", "vault/swap.go", "r.crashed && torn(data)", "r.crashed && data == nil && torn(data)",
			displacing},
	}
}

// remembering is what agents add, which must neither be merged with what says something
// else nor count for more than whoever said it.
func remembering() []mutant {
	return []mutant{
		{"look at what tells an addition from what is known", "engine/learn/add.go", "sayer(n.All, a.e.Opt.Known.Add, s.DistinctReason)", "sayer(n.All, a.e.Opt.Known.Add, func(*similar.Near) string { return \"\" })", adding},
		{"look at the parts that a known text lacks", "engine/similar/contradictions.go", "\treturn s.facts.Unknown(contradiction.Of(s.e.Text, one.Text), byVectors)\n", "\t_ = byVectors\n\treturn \"\"\n", adding},
		{"how alike a text has to be", "engine/learn/reinforce.go", " || one.Similarity < threshold && !one.Same:", ":", adding},
		{"look at what tells an echo from what was recalled", "engine/recall/find.go", "(similarity == 1 || contradiction.Equal(", "(similarity > 0 || contradiction.Equal(", echoing},
		{"refusal of a circle of successors", "engine/similar/supersede.go", "if err := e.circle(row, rows[i]); err != nil {", "if err := error(nil); err != nil {", superseding},
		{"end of a circle that two devices made", "engine/core/rows.go", "return path[1:max(1, i+1+oldestWord(path[i:]))]", "return path[1:]", superseding},
		{"refusal of a model's confirmation", "engine/memories/confirm.go", "\tif by.Via == core.ViaMCP {\n", "\tif false {\n", confirming},
		{"look whether there is something to confirm", "engine/core/provenance.go", "if err != nil || !m.DataOnly() {", "if err != nil {", confirming},
		{"hold on what a tool says of itself", "engine/core/unconfirmed.go", "\tcase m.DataOnly():\n\t\treturn UnconfirmedReason(m)\n", "", confirming},
		{"folding of equal links", "memory/learn.go", "i := slices.IndexFunc(chain, s.Equal)", "i := -1", learning},
		{"count of links that a full chain drops", "memory/learn.go", "\t\tm.SourcesDropped += s.Count()\n",
			"\t\t_ = s\n", learning},
	}
}
