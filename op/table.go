package op

// The operations.
var (
	Save = define[SaveRequest, SaveResult]("save", "POST", "/v1/memories", Write,
		"Save a new memory with its fields. To avoid duplicates, use add instead. Returns the memory.")
	SaveBatch = define[SaveBatchRequest, SaveBatchResult]("save_batch", "POST", "/v1/memories/batch", Write,
		"Save many memories as one journal entry. Returns an ID or an error for each memory.")
	Search = define[SearchRequest, SearchResult]("search", "GET", "/v1/search", Read,
		"Search memories and notes by words and embeddings. To open a memory by its ID, use show; for an answer "+
			"with relations, use query. Returns the best matches first.")
	WhyNot = define[WhyNotRequest, WhyNotResult]("why_not", "GET", "/v1/why-not", Read,
		"Explain why a search does not return a memory or note, and how to change that.")
	Show = define[ShowRequest, ShowResult]("show", "GET", "/v1/memories/{id}", Read,
		"Open one memory by its ID, with its full text. Opening delays the fading of the memory, unless track is "+
			"false. For several memories, use open_many.")
	List = define[ListRequest, ListResult]("list", "GET", "/v1/memories", Read,
		"List memories by filters, without a query. To find memories by their words, use search.")
	Edit = define[EditRequest, EditResult]("edit", "PATCH", "/v1/memories/{id}", Write,
		"Change fields of a memory. emberd keeps the earlier version, and undo restores that version. Returns the "+
			"changed memory.")
	Forget = define[ForgetRequest, ForgetResult]("forget", "DELETE", "/v1/memories/{id}", Destructive,
		"Move one or more memories to the trash, which keeps memories for 30 days. For more than 100 IDs, use "+
			"forget_batch.")
	Promote = define[PromoteRequest, PromoteResult]("promote", "POST", "/v1/memories/{id}/promote", Write,
		"Create a note in the vault for one memory. For every memory that meets the criteria, use promote.auto. "+
			"Returns the path of the note.")
	Archive = define[ArchiveRequest, ArchiveResult]("archive", "POST", "/v1/memories/{id}/archive", Write,
		"Archive memories. emberd keeps a summary and moves the full text to a note. To restore a text, use "+
			"rekindle.")
	Rekindle = define[RekindleRequest, RekindleAnswer]("rekindle", "POST", "/v1/rekindle", Write,
		"Restore the full text of an archived memory from its note. Returns the memory, and how emberd found the "+
			"text.")
	PromoteAuto = define[PromoteAutoRequest, PromoteAutoResult]("promote.auto", "POST", "/v1/promote", Write,
		"Create a note for every memory that meets the promotion criteria. For one memory, use promote. Returns "+
			"the memories and the paths of their notes.")
	Touch = define[TouchRequest, TouchResult]("touch", "POST", "/v1/memories/{id}/touch", Write,
		"Count a use of one memory. If boost_strength is true, emberd also raises its strength. For memories that an "+
			"answer used, use observe. Returns the old and the new score.")
	GC = define[GCRequest, GCResult]("gc", "POST", "/v1/gc", Destructive,
		"Move the memories with the lowest decay scores to the trash, or archive them. By default, emberd only "+
			"shows the memories. Returns the memories and their scores.")
	Clusters = define[ClustersRequest, ClustersResult]("clusters", "GET", "/v1/clusters", Read,
		"List groups of similar memories, or pairs of near-duplicates. To merge or link a group, use consolidate.")
	Consolidate = define[ConsolidateRequest, ConsolidateResult]("consolidate", "POST", "/v1/consolidate", Write,
		"Merge the memories of a group, or link them with relations. By default, emberd only shows a preview. To "+
			"find groups, use clusters.")
	AgentsRun = define[AgentsRunRequest, AgentsRunResult]("agents.run", "POST", "/v1/agents/run", Write,
		"Run the maintenance agents. The agents merge, promote and relate memories, and find memories that soon "+
			"fade. Returns the findings and changes of each agent.")
	ReviewList = define[ReviewListRequest, ReviewListResult]("review.list", "GET", "/v1/review", Read,
		"List the review items that wait for a decision. For one item with its memories, use review.show.")
	ReviewShow = define[ReviewShowRequest, ReviewShowResult]("review.show", "GET", "/v1/review/{id}", Read,
		"Show one review item. The answer contains the memories of the item, their differences, and the possible "+
			"decisions.")
	ReviewClaim = define[ReviewClaimRequest, ReviewChangeResult]("review.claim", "POST", "/v1/review/{id}/claim", Write,
		"Reserve a review item for the caller. Other reviewers see that the item is in progress. Returns the "+
			"item.")
	ReviewClose = define[ReviewCloseRequest, ReviewChangeResult]("review.close", "POST", "/v1/review/{id}/close",
		Destructive,
		"Close a review item and apply a decision. Without a decision, no memory changes. Returns the item and "+
			"the journal entry.")
	ReviewCreate = define[ReviewCreateRequest, ReviewChangeResult]("review.create", "POST", "/v1/review", Write,
		"Create a review item for some memories. If an open item has the same memories, emberd returns that item "+
			"instead.")
	Health = define[HealthRequest, HealthResult]("health", "GET", "/v1/health", Read,
		"Report how many memories are stale, rarely found, duplicate, at risk of fading, or of low quality.")
	HealthStale = define[HealthStaleRequest, HealthStaleResult]("health.stale", "GET", "/v1/health/stale", Read,
		"List memories that no search has returned for a number of days.")
	HealthLowAccess = define[HealthLowAccessRequest, HealthLowAccessResult]("health.low_access", "GET",
		"/v1/health/low-access", Read,
		"List memories that searches rarely return.")
	HealthDuplicates = define[HealthDuplicatesRequest, HealthDuplicatesResult]("health.duplicates", "GET",
		"/v1/health/duplicates", Read,
		"List pairs of near-duplicate memories. To merge a pair, use health.consolidate.")
	HealthMerge = define[HealthMergeRequest, HealthMergeResult]("health.consolidate", "POST", "/v1/health/consolidate",
		Destructive,
		"Merge two similar memories. emberd keeps one, with the accesses and relations of both, and moves the "+
			"other to the trash.")
	Migrate = define[MigrateRequest, MigrateResult]("migrate", "POST", "/v1/migrate", Write,
		"Update old records to the current format. A second run changes nothing.")
	Cleanup = define[CleanupRequest, CleanupRun]("cleanup", "POST", "/v1/cleanup", Destructive,
		"Find duplicates, contradictions and low-quality memories in a collection. Returns a plan; with execute, "+
			"emberd applies the plan as one journal entry.")
	CleanupReport = define[CleanupReportRequest, CleanupReportResult]("cleanup.report", "GET", "/v1/cleanup/report",
		Read,
		"Show the report of a cleanup run.")
	CleanupRollback = define[CleanupRollbackRequest, CleanupRollbackResult]("cleanup.rollback", "POST",
		"/v1/cleanup/rollback", Write,
		"Roll back all changes of a cleanup run. Returns the result for each memory.")
	CleanupHistory = define[CleanupHistoryRequest, CleanupHistoryResult]("cleanup.history", "GET", "/v1/cleanup", Read,
		"List the cleanup runs, newest first.")
	LifecycleRun = define[LifecycleRunRequest, LifecycleRunResult]("lifecycle.run", "POST", "/v1/lifecycle/run", Write,
		"Demote, archive and promote the memories that are due now. All moves are one journal entry, which undo "+
			"reverts. Returns each move and its reason.")
	LifecycleStatus = define[LifecycleStatusRequest, LifecycleStatusResult]("lifecycle.status", "GET", "/v1/lifecycle",
		Read,
		"Show the stages of memories, the next lifecycle run, and the reason if no memory can move. To move "+
			"memories now, use lifecycle.run.")
	Purge = define[PurgeRequest, PurgeResult]("purge", "DELETE", "/v1/memories/{id}/purge", Destructive,
		"Delete a memory permanently from every file of this device. You cannot undo a purge. To move the memory to "+
			"the trash instead, use forget.")
	Undo = define[UndoRequest, UndoResult]("undo", "POST", "/v1/undo", Write,
		"Revert a journal entry. The default is the newest entry of this device that a caller requested and that "+
			"is not undone. To list entries, use journal. Returns the result for each memory and note.")
	TrashList = define[TrashListRequest, TrashListResult]("trash.list", "GET", "/v1/trash", Read,
		"List the memories in the trash, newest first. To restore memories, use trash.restore.")
	TrashRestore = define[TrashRestoreRequest, TrashRestoreResult]("trash.restore", "POST", "/v1/trash/restore", Write,
		"Restore memories from the trash. To restore all memories of one deletion, use undo.")
	Status = define[StatusRequest, StatusResult]("status", "GET", "/v1/status", Read,
		"Show the state of the daemon, including log, index, folders and warnings. For counts of memories, use "+
			"stats.")
	VaultCheck = define[VaultCheckRequest, VaultCheckResult]("vault.check", "GET", "/v1/vault/check", Read,
		"List problems of the notes in the vault. Problems are broken links, invalid properties, unreadable "+
			"notes, and notes that differ from their memories.")
	VaultConfirm = define[VaultConfirmRequest, VaultConfirmResult]("vault.confirm", "POST", "/v1/vault/confirm", Write,
		"Confirm that missing notes were deleted on purpose. emberd then deletes the memories of these notes, and "+
			"changes no note.")
	VaultLinks = define[VaultLinksRequest, VaultLinksResult]("vault.links", "POST", "/v1/vault/links", Write,
		"Write the entities and relations of memories into their notes now. emberd also writes links into notes "+
			"that it does not change automatically. Returns the changed notes and the entry to undo.")
	VaultRelease = define[VaultReleaseRequest, VaultHoldResult]("vault.release", "POST", "/v1/vault/release", Write,
		"Close all files of the vault, so that you can unmount its disk. Until vault.open, searches use the index "+
			"and writes to notes wait. Missing notes do not count as deleted.")
	VaultOpen = define[VaultOpenRequest, VaultHoldResult]("vault.open", "POST", "/v1/vault/open", Write,
		"Open the vault again after vault.release.")
	Links = define[LinksRequest, LinksResult]("links", "GET", "/v1/links", Read,
		"List the links of a note and the notes that link to it. For the text and related memories too, use "+
			"note.context.")
	Open = define[OpenRequest, OpenResult]("open", "GET", "/v1/open", Read,
		"Create an obsidian:// link to a note or to the note of a memory.")
	NoteRead = define[NoteReadRequest, NoteReadResult]("note.read", "GET", "/v1/note", Read,
		"Read the text of a note. For links and related memories too, use note.context.")
	NoteWrite = define[NoteWriteRequest, NoteChangeResult]("note.write", "POST", "/v1/note", Destructive,
		"Create a note, or replace a whole note that the caller has read. To change a part, use note.edit; to add "+
			"text, use note.append. Returns the difference and the entry to undo.")
	NoteAppend = define[NoteAppendRequest, NoteChangeResult]("note.append", "POST", "/v1/note/append", Write,
		"Add text at the end of a note or section. To create a note, use note.write. Returns the difference and "+
			"the entry to undo.")
	NoteEdit = define[NoteEditRequest, NoteChangeResult]("note.edit", "POST", "/v1/note/edit", Destructive,
		"Replace text in a note, or change its properties. To add text at the end, use note.append. Returns the "+
			"difference and the entry to undo.")
	NoteMove = define[NoteMoveRequest, NoteChangeResult]("note.move", "POST", "/v1/note/move", Destructive,
		"Rename or move a note, and rewrite the links to it. Returns the notes whose links changed, and the entry "+
			"to undo.")
	NoteContext = define[NoteContextRequest, NoteContextResult]("note.context", "GET", "/v1/note/context", Read,
		"Read a note with its links and related memories. For the text alone, use note.read.")
	RecentActivity = define[RecentActivityRequest, RecentActivityResult]("recent.activity", "GET", "/v1/recent", Read,
		"List the most recently changed notes and memories, with the author of each change. For the entries to undo, "+
			"use journal.")
	Hook = define[HookRequest, HookResult]("hook", "POST", "/v1/hook", Write,
		"Handle a hook event from a coding agent. emberd saves important sentences and returns relevant memories.")
	SessionList = define[SessionListRequest, SessionListResult]("session.list", "GET", "/v1/sessions", Read,
		"List the sessions of coding agents, with the memories that hooks showed and saved.")
	SessionForget = define[SessionForgetRequest, SessionForgetResult]("session.forget", "POST", "/v1/sessions/forget",
		Destructive,
		"Move the memories that hooks saved in one session to the trash.")
	Complete = define[CompleteRequest, CompleteResult]("complete", "GET", "/v1/complete", Read,
		"Complete a partial tag, ID, project or note path.")
	Keeper = define[KeeperRequest, KeeperResult]("keeper", "GET", "/v1/keeper", Read,
		"Show which device is primary.")
	KeeperHere = define[KeeperHereRequest, KeeperResult]("keeper.here", "POST", "/v1/keeper", Write,
		"Make this device the primary device.")
	History = define[HistoryRequest, HistoryResult]("history", "GET", "/v1/memories/{id}/history", Read,
		"List the stored versions of one memory, newest first. For the changes of all memories, use journal.")
	Journal = define[JournalRequest, JournalResult]("journal", "GET", "/v1/journal", Read,
		"List changes, newest first, with entry, caller, and whether the change is undone. To revert a change, "+
			"use undo; to list reads too, use audit.")
	Audit = define[AuditRequest, AuditResult]("audit", "GET", "/v1/audit", Read,
		"Show the reads, writes, merges and deletions of each caller, and the share of its search results that were "+
			"used. For changes alone, use journal.")
	AuditForgive = define[AuditForgiveRequest, AuditForgiveResult]("audit.forgive", "POST", "/v1/audit/forgive", Write,
		"Reset the throttling of a caller. emberd rates the caller again from its next call.")
	Why = define[WhyRequest, WhyResult]("why", "GET", "/v1/memories/{id}/why", Read,
		"Explain the score and the stage of a memory, the next stages, and the effect of one use. For the score "+
			"over time, use timeline.")
	Timeline = define[TimelineRequest, TimelineResult]("timeline", "GET", "/v1/memories/{id}/timeline", Read,
		"Show the past and future score of a memory, with the events that changed the score.")
	QuarantineList = define[QuarantineListRequest, QuarantineListResult]("quarantine.list", "GET", "/v1/quarantine",
		Read,
		"List the damaged log lines in quarantine. For the content of one line, use quarantine.show.")
	QuarantineShow = define[QuarantineShowRequest, QuarantineShowResult]("quarantine.show", "GET",
		"/v1/quarantine/{id}", Read,
		"Show a damaged log line, and list the changes that accepting the line would make.")
	QuarantineAccept = define[QuarantineAcceptRequest, QuarantineAcceptResult]("quarantine.accept", "POST",
		"/v1/quarantine/{id}/accept", Write,
		"Accept a damaged log line. emberd writes its fields that no later entry replaced as a new entry. To see "+
			"these fields first, use quarantine.show.")
	QuarantineDrop = define[QuarantineDropRequest, QuarantineDropResult]("quarantine.drop", "DELETE",
		"/v1/quarantine/{id}", Destructive,
		"Delete the copy of a damaged log line permanently.")
	StaleList = define[StaleListRequest, StaleListResult]("stale.list", "GET", "/v1/stale", Read,
		"List deleted memories that an offline device still had and that wait for a decision. To decide, use "+
			"stale.decide.")
	StaleDecide = define[StaleDecideRequest, StaleDecideResult]("stale.decide", "POST", "/v1/stale/{id}", Write,
		"Restore a memory of a device that was offline for a long time, or leave the memory deleted.")
	BackupCreate = define[BackupCreateRequest, BackupCreateResult]("backup.create", "POST", "/v1/backups", Write,
		"Write the whole log to one backup file. Returns the file and its size.")
	Export = define[ExportRequest, ExportResult]("export", "GET", "/v1/export", Read,
		"Export every memory as stored, including the trash. Returns one page of records.")
	Import = define[ImportRequest, ImportResult]("import", "POST", "/v1/import", Write,
		"Import the records of an export. Existing memories do not change.")
	Stats = define[StatsRequest, StatsResult]("stats", "GET", "/v1/stats", Read,
		"Count memories by stage, collection, project and tag. For the state of the daemon, use status.")
	Compact = define[CompactRequest, CompactResult]("compact", "POST", "/v1/compact", Write,
		"Move superseded versions from the log to the history. emberd rewrites the sealed segments of the log. "+
			"Returns the old and new files.")
	Relate = define[RelateRequest, RelateResult]("relate", "POST", "/v1/relations", Write,
		"Create a typed relation from one memory to another. For many relations, use relate_batch. Returns the "+
			"relation with its ID.")
	RelateBatch = define[RelateBatchRequest, RelateBatchResult]("relate_batch", "POST", "/v1/relations/batch", Write,
		"Create many relations as one journal entry. Returns a relation or an error for each item.")
	Unrelate = define[UnrelateRequest, UnrelateResult]("unrelate", "DELETE", "/v1/relations/{id}", Destructive,
		"Remove relations between memories. To restore the relations, use undo.")
	Graph = define[GraphRequest, GraphResult]("graph", "GET", "/v1/graph", Read,
		"List memories and the relations between them. For the surroundings of one memory, note or entity, use "+
			"knowledge.")
	OpenMany = define[OpenManyRequest, OpenManyResult]("open_many", "GET", "/v1/memories/open", Read,
		"Open up to 100 memories by their IDs, with full texts and relations. Opening delays fading unless track is "+
			"false. Opening also restores a memory that was merged into another memory.")
	ForgetBatch = define[ForgetBatchRequest, ForgetResult]("forget_batch", "POST", "/v1/memories/forget", Destructive,
		"Move many memories to the trash as one journal entry. To restore the memories, use undo. Returns the "+
			"result for each memory.")
	AnalyzeMessage = define[AnalyzeMessageRequest, AnalyzeMessageResult]("analyze.message", "POST",
		"/v1/analyze/message", Read,
		"Estimate whether a message contains something to save, and suggest entities, tags and strength.")
	AnalyzeRecall = define[AnalyzeRecallRequest, AnalyzeRecallResult]("analyze.recall", "POST", "/v1/analyze/recall",
		Read,
		"Estimate whether a message requires a search, and suggest a query.")
	Observe = define[ObserveRequest, ObserveResult]("observe", "POST", "/v1/observe", Write,
		"Record which memories an answer used. emberd adds 1 to the use count and the review count of each memory. "+
			"If the tags of the answer differ from the tags of a memory, emberd also raises its strength. For one "+
			"memory without an answer, use touch.")
	Add = define[AddRequest, AddResult]("add", "POST", "/v1/add", Write,
		"Save a text if it is new. If a memory has the same statement, emberd reinforces that memory instead. "+
			"Returns the memory and its contradictions.")
	Query = define[QueryRequest, QueryResult]("query", "GET", "/v1/query", Read,
		"Answer a query from memories, notes, the knowledge graph or the archive. For results with filters, use "+
			"search.")
	Verify = define[VerifyRequest, VerifyResult]("verify", "GET", "/v1/verify", Read,
		"Compare a claim with memories and notes. Returns the matches, and reports whether the claim is confirmed, "+
			"related, new or in conflict.")
	Reinforce = define[ReinforceRequest, ReinforceResult]("reinforce", "POST", "/v1/reinforce", Write,
		"Raise the importance of an existing memory and add new evidence. To save a new memory, use add.")
	Confirm = define[ConfirmRequest, ConfirmResult]("confirm", "POST", "/v1/memories/{id}/confirm", Write,
		"Confirm a text from a tool or the web, so that the memory ranks like other memories.")
	EntityList = define[EntityListRequest, EntityListResult]("entity.list", "GET", "/v1/entities", Read,
		"List the entities of memories and notes, with the number of mentions. For the surroundings of one "+
			"entity, use knowledge.")
	Knowledge = define[KnowledgeRequest, KnowledgeResult]("knowledge", "GET", "/v1/knowledge", Read,
		"Show the knowledge graph around a memory, a note or an entity. For all memories and relations, use "+
			"graph.")
	EngineStatus = define[EngineStatusRequest, EngineStatusResult]("engine.status", "GET", "/v1/engine", Read,
		"Show the embedding model, and the number of memories and notes with embeddings.")
	EnginePause = define[EnginePauseRequest, EngineStatusResult]("engine.pause", "POST", "/v1/engine/pause", Write,
		"Pause the computation of embeddings until engine.resume.")
	EngineResume = define[EngineResumeRequest, EngineStatusResult]("engine.resume", "POST", "/v1/engine/resume", Write,
		"Resume the computation of embeddings, and retry failed embeddings.")
	Embed = define[EmbedRequest, EmbedResult]("embed", "POST", "/v1/embed", Read,
		"Compute the embeddings of some texts, and their similarities.")
	TokenCreate = define[TokenCreateRequest, TokenCreateResult]("token.create", "POST", "/v1/tokens", Write,
		"Create an access token that limits the permissions of a caller. Only this answer contains the secret.")
	TokenList = define[TokenListRequest, TokenListResult]("token.list", "GET", "/v1/tokens", Read,
		"List the access tokens, without their secrets.")
	TokenRevoke = define[TokenRevokeRequest, TokenRevokeResult]("token.revoke", "DELETE", "/v1/tokens/{name}",
		Destructive,
		"Revoke an access token immediately and permanently.")
	Version = define[VersionRequest, VersionResult]("version", "GET", "/v1/version", Read,
		"Show the version of the daemon and of its protocol.")
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
