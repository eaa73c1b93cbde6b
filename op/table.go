package op

// The operations.
var (
	Save = define[SaveRequest, SaveResult]("save", "POST", "/v1/memories", Write,
		"Save a new memory with its fields. To avoid duplicate memories, use add instead. Returns the saved memory.")
	SaveBatch = define[SaveBatchRequest, SaveBatchResult]("save_batch", "POST", "/v1/memories/batch", Write,
		"Save many memories in one change. Returns an ID or an error for each memory.")
	Search = define[SearchRequest, SearchResult]("search", "GET", "/v1/search", Read,
		"Search memories and notes by words and embeddings. To show a memory by its ID, use "+
			"show; to search entities and relations too, use query. Returns the best matches first.")
	WhyNot = define[WhyNotRequest, WhyNotResult]("why_not", "GET", "/v1/why-not", Read,
		"Explain why a search does not return a memory or note, and "+
			"show the smallest change to the query that would return it.")
	Show = define[ShowRequest, ShowResult]("show", "GET", "/v1/memories/{id}", Read,
		"Show one memory, with its full text. If track is true (the default), emberd records that you "+
			"opened the memory, which delays its fading. To show several memories, use open_many.")
	List = define[ListRequest, ListResult]("list", "GET", "/v1/memories", Read,
		"List the memories that match the filters. To find memories by their words, use search.")
	Edit = define[EditRequest, EditResult]("edit", "PATCH", "/v1/memories/{id}", Write,
		"Change fields of a memory. emberd keeps the earlier version, "+
			"and undo restores that version. Returns the changed memory.")
	Forget = define[ForgetRequest, ForgetResult]("forget", "DELETE", "/v1/memories/{id}", Destructive,
		"Move one or more memories to the trash, which keeps memories "+
			"for 30 days. To delete more than 100 memories, use forget_batch.")
	Promote = define[PromoteRequest, PromoteResult]("promote", "POST", "/v1/memories/{id}/promote", Write,
		"Create a note in the vault for one memory. To create notes for all memories that "+
			"meet the promotion criteria, use promote.auto. Returns the path of the note.")
	Archive = define[ArchiveRequest, ArchiveResult]("archive", "POST", "/v1/memories/{id}/archive", Write,
		"Archive memories. emberd keeps a summary of each memory and moves "+
			"the full text to a note. To restore the full text, use rekindle.")
	Rekindle = define[RekindleRequest, RekindleAnswer]("rekindle", "POST", "/v1/rekindle", Write,
		"Restore the full text of an archived memory from its note. Returns "+
			"the memory, and whether the note was unchanged, edited, moved or gone.")
	PromoteAuto = define[PromoteAutoRequest, PromoteAutoResult]("promote.auto", "POST", "/v1/promote", Write,
		"Create a note for every memory that meets the promotion criteria. To create a note "+
			"for one memory, use promote. Returns the memories and the paths of their notes.")
	Touch = define[TouchRequest, TouchResult]("touch", "POST", "/v1/memories/{id}/touch", Write,
		"Record a use of one memory. If boost_strength is true, emberd also "+
			"raises the strength of the memory. To record the memories that an answer "+
			"used, use observe. Returns the old and the new decay score of the memory.")
	GC = define[GCRequest, GCResult]("gc", "POST", "/v1/gc", Destructive, "Move the memories with the lowest decay "+
		"scores to the trash, or archive these memories. By default, emberd only "+
		"lists the memories and changes nothing. Returns the IDs of the memories.")
	Clusters = define[ClustersRequest, ClustersResult]("clusters", "GET", "/v1/clusters", Read,
		"List groups of similar memories, or pairs of near-duplicate "+
			"memories. To merge or link a group, use consolidate.")
	Consolidate = define[ConsolidateRequest, ConsolidateResult]("consolidate", "POST", "/v1/consolidate", Write,
		"Merge the memories of a group, or link them with relations. By default, "+
			"emberd only shows the result of a merge. To find groups, use clusters.")
	AgentsRun = define[AgentsRunRequest, AgentsRunResult]("agents.run", "POST", "/v1/agents/run", Write,
		"Run the maintenance agents, which merge, promote and relate memories, and find "+
			"memories that soon fade. Returns the findings and changes of each maintenance agent.")
	ReviewList = define[ReviewListRequest, ReviewListResult]("review.list", "GET", "/v1/review", Read,
		"List review items, which are pending decisions about "+
			"memories. To show one item with its memories, use review.show.")
	ReviewShow = define[ReviewShowRequest, ReviewShowResult]("review.show", "GET", "/v1/review/{id}", Read,
		"Show one review item. The answer contains the memories of "+
			"the item, their differences, and the possible decisions.")
	ReviewClaim = define[ReviewClaimRequest, ReviewChangeResult]("review.claim", "POST", "/v1/review/{id}/claim", Write,
		"Reserve a review item for the caller. Other reviewers see "+
			"that the item is in progress. Returns the review item.")
	ReviewClose = define[ReviewCloseRequest, ReviewChangeResult]("review.close", "POST", "/v1/review/{id}/close",
		Destructive, "Close a review item and apply a decision to its memories. Without a decision, "+
			"no memory changes. Returns the review item and the ID (tx) of the change.")
	ReviewCreate = define[ReviewCreateRequest, ReviewChangeResult]("review.create", "POST", "/v1/review", Write,
		"Create a review item, so that a reviewer decides about memories. If an "+
			"open review item has the same memories, emberd returns the open item.")
	Health = define[HealthRequest, HealthResult]("health", "GET", "/v1/health", Read,
		"Report how many memories are stale, rarely returned by "+
			"searches, duplicate, at risk of fading, or of low quality.")
	HealthStale = define[HealthStaleRequest, HealthStaleResult]("health.stale", "GET", "/v1/health/stale", Read,
		"List memories that no search has returned in the last N days.")
	HealthLowAccess = define[HealthLowAccessRequest, HealthLowAccessResult]("health.low_access", "GET",
		"/v1/health/low-access", Read, "List memories that searches rarely return.")
	HealthDuplicates = define[HealthDuplicatesRequest, HealthDuplicatesResult]("health.duplicates", "GET",
		"/v1/health/duplicates", Read, "List pairs of near-duplicate memories. "+
			"To merge a pair, use health.consolidate.")
	HealthMerge = define[HealthMergeRequest, HealthMergeResult]("health.consolidate", "POST", "/v1/health/consolidate",
		Destructive, "Merge two similar memories. emberd keeps one memory, with the accesses "+
			"and relations of both memories, and moves the other memory to the trash.")
	Migrate = define[MigrateRequest, MigrateResult]("migrate", "POST", "/v1/migrate", Write,
		"Add missing fields to the records of old memories. The fields are "+
			"access, session_id and embedding_version. A second call changes nothing.")
	Cleanup = define[CleanupRequest, CleanupRun]("cleanup", "POST", "/v1/cleanup", Destructive,
		"Find duplicates, contradictions and low-quality memories in a collection. Returns "+
			"a plan of changes; if execute is true, emberd applies the plan in one change.")
	CleanupReport = define[CleanupReportRequest, CleanupReportResult]("cleanup.report", "GET", "/v1/cleanup/report",
		Read, "Show the report of a cleanup run.")
	CleanupRollback = define[CleanupRollbackRequest, CleanupRollbackResult]("cleanup.rollback", "POST",
		"/v1/cleanup/rollback", Write, "Roll back all changes of a cleanup run. "+
			"Returns the result for each changed memory.")
	CleanupHistory = define[CleanupHistoryRequest, CleanupHistoryResult]("cleanup.history", "GET", "/v1/cleanup", Read,
		"List the cleanup runs, newest first.")
	LifecycleRun = define[LifecycleRunRequest, LifecycleRunResult]("lifecycle.run", "POST", "/v1/lifecycle/run", Write,
		"Run the lifecycle now: demote, archive and promote memories. All moves "+
			"are one change, which undo can revert. Returns each memory that moved, with the reason.")
	LifecycleStatus = define[LifecycleStatusRequest, LifecycleStatusResult]("lifecycle.status", "GET", "/v1/lifecycle",
		Read, "Show the number of memories in each stage, the next lifecycle run, and the reason "+
			"if no memory can change its stage. To run the lifecycle now, use lifecycle.run.")
	Purge = define[PurgeRequest, PurgeResult]("purge", "DELETE", "/v1/memories/{id}/purge", Destructive,
		"Delete a memory permanently from every file of this device. You cannot "+
			"undo a purge. To move the memory to the trash instead, use forget.")
	Undo = define[UndoRequest, UndoResult]("undo", "POST", "/v1/undo", Write,
		"Revert a change. By default, emberd reverts the newest change that a caller made on "+
			"this device. To list changes, use journal. Returns the result for each memory and note.")
	TrashList = define[TrashListRequest, TrashListResult]("trash.list", "GET", "/v1/trash", Read,
		"List the memories in the trash, newest first. To restore memories, use trash.restore.")
	TrashRestore = define[TrashRestoreRequest, TrashRestoreResult]("trash.restore", "POST", "/v1/trash/restore", Write,
		"Restore memories from the trash. To restore all memories of one deletion, use undo.")
	Status = define[StatusRequest, StatusResult]("status", "GET", "/v1/status", Read,
		"Show the state of the daemon, including log, index, folders and warnings. To count memories, use stats.")
	VaultCheck = define[VaultCheckRequest, VaultCheckResult]("vault.check", "GET", "/v1/vault/check", Read,
		"List problems of the notes in the vault. Problems are broken links, invalid "+
			"properties, unreadable notes, and notes that differ from their memories.")
	VaultConfirm = define[VaultConfirmRequest, VaultConfirmResult]("vault.confirm", "POST", "/v1/vault/confirm", Write,
		"Confirm that you deleted the missing notes on purpose. emberd then moves "+
			"the memories of these notes to the trash, and does not change notes.")
	VaultLinks = define[VaultLinksRequest, VaultLinksResult]("vault.links", "POST", "/v1/vault/links", Write,
		"Write the entities and relations of memories as links into the notes of "+
			"these memories. emberd also writes links into notes that emberd does not "+
			"change automatically. Returns the changed notes and the ID (tx) for undo.")
	VaultRelease = define[VaultReleaseRequest, VaultHoldResult]("vault.release", "POST", "/v1/vault/release", Write,
		"Close all files of the vault, so that you can unmount the disk. Until you call vault.open, searches "+
			"use the index, emberd postpones changes to notes, and missing notes do not count as deleted.")
	VaultOpen = define[VaultOpenRequest, VaultHoldResult]("vault.open", "POST", "/v1/vault/open", Write,
		"Open the files of the vault again. To close the files, use vault.release.")
	Links = define[LinksRequest, LinksResult]("links", "GET", "/v1/links", Read,
		"List the links of a note, and the notes that link to the note. "+
			"To read the text and related memories too, use note.context.")
	Open = define[OpenRequest, OpenResult]("open", "GET", "/v1/open", Read,
		"Create an obsidian:// link to a note or to the note of a memory.")
	NoteRead = define[NoteReadRequest, NoteReadResult]("note.read", "GET", "/v1/note", Read,
		"Read the text of a note. To read links and related memories too, use note.context.")
	NoteWrite = define[NoteWriteRequest, NoteChangeResult]("note.write", "POST", "/v1/note", Destructive,
		"Create a note, or replace a whole note that the caller has read. To change a part of a note, use "+
			"note.edit; to add text, use note.append. Returns the diff of the note, and the ID (tx) for undo.")
	NoteAppend = define[NoteAppendRequest, NoteChangeResult]("note.append", "POST", "/v1/note/append", Write,
		"Add text at the end of a note or section. To create a note, use "+
			"note.write. Returns the diff of the note, and the ID (tx) for undo.")
	NoteEdit = define[NoteEditRequest, NoteChangeResult]("note.edit", "POST", "/v1/note/edit", Destructive,
		"Replace text in a note, or change properties of a note. To add text at the "+
			"end, use note.append. Returns the diff of the note, and the ID (tx) for undo.")
	NoteMove = define[NoteMoveRequest, NoteChangeResult]("note.move", "POST", "/v1/note/move", Destructive,
		"Rename or move a note, and update the links to the note. "+
			"Returns the notes whose links changed, and the ID (tx) for undo.")
	NoteContext = define[NoteContextRequest, NoteContextResult]("note.context", "GET", "/v1/note/context", Read,
		"Read a note with its links and related memories. To read only the text, use note.read.")
	RecentActivity = define[RecentActivityRequest, RecentActivityResult]("recent.activity", "GET", "/v1/recent", Read,
		"List the most recently changed notes and memories, with the author "+
			"of each change. To list changes that you can undo, use journal.")
	Hook = define[HookRequest, HookResult]("hook", "POST", "/v1/hook", Write,
		"Handle a hook event from a coding agent. emberd saves important "+
			"sentences of the session and returns relevant memories.")
	SessionList = define[SessionListRequest, SessionListResult]("session.list", "GET", "/v1/sessions", Read,
		"List the sessions of coding agents, with the memories that hooks showed or saved in each session.")
	SessionForget = define[SessionForgetRequest, SessionForgetResult]("session.forget", "POST", "/v1/sessions/forget",
		Destructive, "Move the memories that hooks saved in one session to the trash.")
	Complete = define[CompleteRequest, CompleteResult]("complete", "GET", "/v1/complete", Read,
		"List the tags, IDs, projects, note paths or entity names that begin with a given prefix.")
	Keeper = define[KeeperRequest, KeeperResult]("keeper", "GET", "/v1/keeper", Read,
		"Show the primary device, which runs the shared background jobs.")
	KeeperHere = define[KeeperHereRequest, KeeperResult]("keeper.here", "POST", "/v1/keeper", Write,
		"Make this device the primary device, which runs the shared background jobs.")
	History = define[HistoryRequest, HistoryResult]("history", "GET", "/v1/memories/{id}/history", Read,
		"List the stored versions of one memory, newest first. To list the changes of all memories, use journal.")
	Journal = define[JournalRequest, JournalResult]("journal", "GET", "/v1/journal", Read,
		"List changes, newest first, with the ID (tx), caller and undo state of "+
			"each change. To revert a change, use undo; to list reads too, use audit.")
	Audit = define[AuditRequest, AuditResult]("audit", "GET", "/v1/audit", Read,
		"Show the reads, writes, merges and deletions of each caller, and the share "+
			"of search results that the caller used. To list only changes, use journal.")
	AuditForgive = define[AuditForgiveRequest, AuditForgiveResult]("audit.forgive", "POST", "/v1/audit/forgive", Write,
		"Reset the score by which emberd throttles a caller. emberd "+
			"computes a new score from the next calls of the caller.")
	Why = define[WhyRequest, WhyResult]("why", "GET", "/v1/memories/{id}/why", Read,
		"Explain the decay score and the stage of a memory, the next stages, and "+
			"the effect of one use. To show the decay score over time, use timeline.")
	Timeline = define[TimelineRequest, TimelineResult]("timeline", "GET", "/v1/memories/{id}/timeline", Read,
		"Show the past and future decay score of a memory, with the events that changed the score.")
	QuarantineList = define[QuarantineListRequest, QuarantineListResult]("quarantine.list", "GET", "/v1/quarantine",
		Read, "List the damaged log lines in quarantine. To show the content of one line, use quarantine.show.")
	QuarantineShow = define[QuarantineShowRequest, QuarantineShowResult]("quarantine.show", "GET",
		"/v1/quarantine/{id}", Read, "Show a damaged log line, and the changes "+
			"that emberd makes if you accept the line.")
	QuarantineAccept = define[QuarantineAcceptRequest, QuarantineAcceptResult]("quarantine.accept", "POST",
		"/v1/quarantine/{id}/accept", Write, "Accept a damaged log line as correct. emberd applies the line as a new "+
			"change, except fields that changed later. To see these changes first, use quarantine.show.")
	QuarantineDrop = define[QuarantineDropRequest, QuarantineDropResult]("quarantine.drop", "DELETE",
		"/v1/quarantine/{id}", Destructive, "Delete the quarantine copy of a damaged log line permanently.")
	StaleList = define[StaleListRequest, StaleListResult]("stale.list", "GET", "/v1/stale", Read,
		"List deleted memories that an offline device still had, and "+
			"that need a decision. To make the decision, use stale.decide.")
	StaleDecide = define[StaleDecideRequest, StaleDecideResult]("stale.decide", "POST", "/v1/stale/{id}", Write,
		"Restore a deleted memory that an offline device still had, or leave the memory deleted.")
	BackupCreate = define[BackupCreateRequest, BackupCreateResult]("backup.create", "POST", "/v1/backups", Write,
		"Write the whole log, with all memories, to one backup file. Returns the path and size of the file.")
	Export = define[ExportRequest, ExportResult]("export", "GET", "/v1/export", Read,
		"Export every memory as stored, including memories in the trash. Returns one page of records.")
	Import = define[ImportRequest, ImportResult]("import", "POST", "/v1/import", Write,
		"Import the records of an export. An import does not change existing memories.")
	Stats = define[StatsRequest, StatsResult]("stats", "GET", "/v1/stats", Read,
		"Count memories by stage, collection, project and tag. To show the state of the daemon, use status.")
	Compact = define[CompactRequest, CompactResult]("compact", "POST", "/v1/compact", Write,
		"Move superseded versions of memories from the log to history segments. emberd "+
			"rewrites the sealed segments of the log. Returns the names of the old and new files.")
	Relate = define[RelateRequest, RelateResult]("relate", "POST", "/v1/relations", Write,
		"Create a typed relation from one memory to another. To create many "+
			"relations, use relate_batch. Returns the relation with its ID.")
	RelateBatch = define[RelateBatchRequest, RelateBatchResult]("relate_batch", "POST", "/v1/relations/batch", Write,
		"Create many relations in one change. Returns an ID or an error for each relation.")
	Unrelate = define[UnrelateRequest, UnrelateResult]("unrelate", "DELETE", "/v1/relations/{id}", Destructive,
		"Remove relations between memories. To restore the relations, use undo.")
	Graph = define[GraphRequest, GraphResult]("graph", "GET", "/v1/graph", Read,
		"List memories and the relations between them. To show the relations "+
			"and links around one memory, note or entity, use knowledge.")
	OpenMany = define[OpenManyRequest, OpenManyResult]("open_many", "GET", "/v1/memories/open", Read,
		"Show up to 100 memories, with full texts and relations. If track is true (the default), "+
			"emberd records that you opened the memories, which delays their fading. If track is "+
			"true, emberd also restores the full texts of memories that emberd merged into other memories.")
	ForgetBatch = define[ForgetBatchRequest, ForgetResult]("forget_batch", "POST", "/v1/memories/forget", Destructive,
		"Move many memories to the trash in one change. To restore "+
			"the memories, use undo. Returns the result for each memory.")
	AnalyzeMessage = define[AnalyzeMessageRequest, AnalyzeMessageResult]("analyze.message", "POST",
		"/v1/analyze/message", Read, "Estimate whether a message contains a fact to "+
			"save, and suggest entities, tags and strength.")
	AnalyzeRecall = define[AnalyzeRecallRequest, AnalyzeRecallResult]("analyze.recall", "POST", "/v1/analyze/recall",
		Read, "Estimate whether a message requires a search of memories, and suggest a query.")
	Observe = define[ObserveRequest, ObserveResult]("observe", "POST", "/v1/observe", Write,
		"Record which memories an answer used. emberd adds 1 to the use count and the review "+
			"count of each memory. If a memory has few of the tags of the conversation, emberd also "+
			"raises the strength of the memory. To record one use without an answer, use touch.")
	Add = define[AddRequest, AddResult]("add", "POST", "/v1/add", Write, "Save a text as a new memory. If a memory "+
		"already contains the statement, emberd reinforces that memory and saves no "+
		"new memory. Returns the memory, and the memories that contradict the text.")
	Query = define[QueryRequest, QueryResult]("query", "GET", "/v1/query", Read,
		"Search memories, notes and entities together, or only the texts in scope. To use more filters, use search.")
	Verify = define[VerifyRequest, VerifyResult]("verify", "GET", "/v1/verify", Read,
		"Compare a claim with memories and notes. Returns the matches, and "+
			"reports whether the claim is confirmed, related, new or in conflict.")
	Reinforce = define[ReinforceRequest, ReinforceResult]("reinforce", "POST", "/v1/reinforce", Write,
		"Raise the importance of an existing memory and add new evidence to the memory. To save a new memory, use add.")
	Confirm = define[ConfirmRequest, ConfirmResult]("confirm", "POST", "/v1/memories/{id}/confirm", Write,
		"Confirm a text that came from a tool or the web, so that searches rank its memory like other memories.")
	EntityList = define[EntityListRequest, EntityListResult]("entity.list", "GET", "/v1/entities", Read,
		"List the entities of memories and notes, with the number of mentions. "+
			"To show the relations and links around one entity, use knowledge.")
	Knowledge = define[KnowledgeRequest, KnowledgeResult]("knowledge", "GET", "/v1/knowledge", Read,
		"Show the relations and links around a memory, a note or "+
			"an entity. To list all memories and relations, use graph.")
	EngineStatus = define[EngineStatusRequest, EngineStatusResult]("engine.status", "GET", "/v1/engine", Read,
		"Show the embedding model, and the number of memories and notes with embeddings.")
	EnginePause = define[EnginePauseRequest, EngineStatusResult]("engine.pause", "POST", "/v1/engine/pause", Write,
		"Pause the computation of embeddings until you call engine.resume.")
	EngineResume = define[EngineResumeRequest, EngineStatusResult]("engine.resume", "POST", "/v1/engine/resume", Write,
		"Resume the computation of embeddings, and retry texts whose embedding failed.")
	Embed = define[EmbedRequest, EmbedResult]("embed", "POST", "/v1/embed", Read,
		"Compute the embeddings of some texts, and the similarity of each pair of texts.")
	TokenCreate = define[TokenCreateRequest, TokenCreateResult]("token.create", "POST", "/v1/tokens", Write,
		"Create an access token that limits the permissions of a caller. "+
			"emberd shows the secret of the token only in this answer.")
	TokenList = define[TokenListRequest, TokenListResult]("token.list", "GET", "/v1/tokens", Read,
		"List the access tokens, without their secrets.")
	TokenRevoke = define[TokenRevokeRequest, TokenRevokeResult]("token.revoke", "DELETE", "/v1/tokens/{name}",
		Destructive, "Revoke an access token immediately and permanently.")
	Version = define[VersionRequest, VersionResult]("version", "GET", "/v1/version", Read,
		"Show the version of the daemon and the version of its protocol.")
)

// Table lists every operation in the order of the documentation. It returns a
// fresh slice of shared, read-only specs.
func Table() []*Spec {
	return []*Spec{
		Save.Spec, SaveBatch.Spec, Search.Spec, WhyNot.Spec, Show.Spec, List.Spec, Edit.Spec, Promote.Spec,
		Archive.Spec, Rekindle.Spec, Forget.Spec, Purge.Spec,
		ForgetBatch.Spec, OpenMany.Spec, Relate.Spec, RelateBatch.Spec, Unrelate.Spec, Graph.Spec,
		PromoteAuto.Spec, Touch.Spec, Observe.Spec, AnalyzeMessage.Spec, AnalyzeRecall.Spec, GC.Spec, Clusters.Spec,
		Consolidate.Spec, AgentsRun.Spec,
		ReviewList.Spec, ReviewShow.Spec, ReviewClaim.Spec, ReviewClose.Spec, ReviewCreate.Spec, Health.Spec,
		HealthStale.Spec, HealthLowAccess.Spec, HealthDuplicates.Spec, HealthMerge.Spec, Migrate.Spec,
		Cleanup.Spec, CleanupReport.Spec, CleanupRollback.Spec, CleanupHistory.Spec, LifecycleRun.Spec,
		LifecycleStatus.Spec,
		History.Spec, Journal.Spec, Audit.Spec, AuditForgive.Spec, Why.Spec, Timeline.Spec, Undo.Spec, TrashList.Spec,
		TrashRestore.Spec, Export.Spec, Import.Spec,
		QuarantineList.Spec, QuarantineShow.Spec, QuarantineAccept.Spec, QuarantineDrop.Spec, StaleList.Spec,
		StaleDecide.Spec, BackupCreate.Spec,
		VaultCheck.Spec, VaultConfirm.Spec, VaultLinks.Spec, VaultRelease.Spec, VaultOpen.Spec,
		Links.Spec, Open.Spec, NoteRead.Spec, NoteWrite.Spec, NoteAppend.Spec, NoteEdit.Spec, NoteMove.Spec,
		NoteContext.Spec, RecentActivity.Spec, Hook.Spec, SessionList.Spec, SessionForget.Spec, Complete.Spec,
		Keeper.Spec, KeeperHere.Spec, Status.Spec, Stats.Spec,
		Add.Spec, Query.Spec, Verify.Spec, Reinforce.Spec, Confirm.Spec, EntityList.Spec, Knowledge.Spec,
		EngineStatus.Spec, EnginePause.Spec, EngineResume.Spec, Embed.Spec, Compact.Spec,
		TokenCreate.Spec, TokenList.Spec, TokenRevoke.Spec, Version.Spec,
	}
}

// Routes that are not operations: a document and a stream.
const (
	OpenAPIPath = "/v1/openapi.json"
	EventsPath  = "/v1/events"
	MetricsPath = "/metrics"
)

// Protocol is the version of routes and types. A client and a daemon fit when
// their protocols are equal.
const Protocol = 1
