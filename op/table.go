package op

// The operations.
var (
	Save = define[SaveRequest, SaveResult]("save", "POST", "/v1/memories", Write,
		"Save a new memory with its fields, and return it. To save only texts that are not known yet, use add.")
	SaveBatch = define[SaveBatchRequest, SaveBatchResult]("save_batch", "POST", "/v1/memories/batch", Write,
		"Save many memories as one journal entry. Returns an ID or an error for each item.")
	Search = define[SearchRequest, SearchResult]("search", "GET", "/v1/search", Read,
		"Search memories and notes by words and meaning, and return the best matches first. To open a memory by "+
			"its ID, use show; for an answer with relations, use query.")
	WhyNot = define[WhyNotRequest, WhyNotResult]("why_not", "GET", "/v1/why-not", Read,
		"Explain why a search does not return a memory or note: the stage that drops it, and what would change "+
			"that.")
	Show = define[ShowRequest, ShowResult]("show", "GET", "/v1/memories/{id}", Read,
		"Open one memory by its ID, with its whole text. Opening counts as a use, which postpones fading, unless "+
			"track is false. For several memories, use open_many.")
	List = define[ListRequest, ListResult]("list", "GET", "/v1/memories", Read,
		"List memories by filters, without a query, a page at a time. To find memories by their words, use "+
			"search.")
	Edit = define[EditRequest, EditResult]("edit", "PATCH", "/v1/memories/{id}", Write,
		"Change the given fields of a memory, and return its new state. The earlier version is kept, and undo "+
			"reverts the change.")
	Forget = define[ForgetRequest, ForgetResult]("forget", "DELETE", "/v1/memories/{id}", Destructive,
		"Move one or more memories to the trash, where they can be restored for 30 days. For a long list of IDs, "+
			"use forget_batch.")
	Promote = define[PromoteRequest, PromoteResult]("promote", "POST", "/v1/memories/{id}/promote", Write,
		"Create a note in the vault for one memory; from then on its text is that of the note. For every memory "+
			"that qualifies, use promote.auto. Returns the path of the note.")
	Archive = define[ArchiveRequest, ArchiveResult]("archive", "POST", "/v1/memories/{id}/archive", Write,
		"Archive memories: move their full texts to notes in the vault, and keep a summary of each. To restore a "+
			"text, use rekindle.")
	Rekindle = define[RekindleRequest, RekindleAnswer]("rekindle", "POST", "/v1/rekindle", Write,
		"Restore the full text of an archived memory from its note, by its ID or by words that it matches. "+
			"Returns the memory and how its text was found.")
	PromoteAuto = define[PromoteAutoRequest, PromoteAutoResult]("promote.auto", "POST", "/v1/promote", Write,
		"Create a note for every memory that meets the promotion criteria. For one memory, use promote. Returns "+
			"the memories and the paths of their notes.")
	Touch = define[TouchRequest, TouchResult]("touch", "POST", "/v1/memories/{id}/touch", Write,
		"Count a use of one memory, and raise its strength on request. For memories that were used in an answer, "+
			"use observe. Returns the old and the new score.")
	GC = define[GCRequest, GCResult]("gc", "POST", "/v1/gc", Destructive,
		"Move the memories with the lowest decay scores to the trash, or archive them. A dry run by default. "+
			"Returns the memories and their scores.")
	Clusters = define[ClustersRequest, ClustersResult]("clusters", "GET", "/v1/clusters", Read,
		"List groups of similar memories, or pairs of near-duplicates. To merge or link a group, use consolidate.")
	Consolidate = define[ConsolidateRequest, ConsolidateResult]("consolidate", "POST", "/v1/consolidate", Write,
		"Merge the memories of a group into one, or link them with relations. A preview by default. To find "+
			"groups, use clusters.")
	AgentsRun = define[AgentsRunRequest, AgentsRunResult]("agents.run", "POST", "/v1/agents/run", Write,
		"Run the maintenance agents: they find memories at risk, similar ones, ones to promote and ones to "+
			"relate. All changes are one journal entry. Returns what each agent found and did.")
	ReviewList = define[ReviewListRequest, ReviewListResult]("review.list", "GET", "/v1/review", Read,
		"List the review items that wait for a decision, a page at a time. For one item with its memories, use "+
			"review.show.")
	ReviewShow = define[ReviewShowRequest, ReviewShowResult]("review.show", "GET", "/v1/review/{id}", Read,
		"Show one review item with its memories, their differences, and the possible decisions.")
	ReviewClaim = define[ReviewClaimRequest, ReviewChangeResult]("review.claim", "POST", "/v1/review/{id}/claim", Write,
		"Mark a review item as in progress by the caller, so that no other reviewer takes it. Returns the item.")
	ReviewClose = define[ReviewCloseRequest, ReviewChangeResult]("review.close", "POST", "/v1/review/{id}/close",
		Destructive,
		"Apply a decision, if one is given, and close a review item. Returns the item and the journal entry.")
	ReviewCreate = define[ReviewCreateRequest, ReviewChangeResult]("review.create", "POST", "/v1/review", Write,
		"Create a review item about some memories. If an open item has the same memories, that one is returned.")
	Health = define[HealthRequest, HealthResult]("health", "GET", "/v1/health", Read,
		"Report on the quality of the memories: stale, rarely found, duplicate, at risk, and of low quality.")
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
		"Keep one of two similar memories, with the counts and relations of both, and move the other one to the "+
			"trash.")
	Migrate = define[MigrateRequest, MigrateResult]("migrate", "POST", "/v1/migrate", Write,
		"Update old records to the current format. Running it again changes nothing.")
	Cleanup = define[CleanupRequest, CleanupRun]("cleanup", "POST", "/v1/cleanup", Destructive,
		"Clean up a collection: find duplicates, contradictions and low-quality memories. Returns a plan by "+
			"default; with execute it applies the plan as one journal entry.")
	CleanupReport = define[CleanupReportRequest, CleanupReportResult]("cleanup.report", "GET", "/v1/cleanup/report",
		Read,
		"Return the report on a cleanup run.")
	CleanupRollback = define[CleanupRollbackRequest, CleanupRollbackResult]("cleanup.rollback", "POST",
		"/v1/cleanup/rollback", Write,
		"Roll back a whole cleanup run. Returns what changed for each memory.")
	CleanupHistory = define[CleanupHistoryRequest, CleanupHistoryResult]("cleanup.history", "GET", "/v1/cleanup", Read,
		"List the cleanup runs, newest first.")
	LifecycleRun = define[LifecycleRunRequest, LifecycleRunResult]("lifecycle.run", "POST", "/v1/lifecycle/run", Write,
		"Demote, archive and promote the memories that are due now. All changes are one journal entry, which undo "+
			"reverts. Returns each move and its reason.")
	LifecycleStatus = define[LifecycleStatusRequest, LifecycleStatusResult]("lifecycle.status", "GET", "/v1/lifecycle",
		Read,
		"Show the stages of fading, the time of the next lifecycle run, and why nothing moves. To move what is "+
			"due now, use lifecycle.run.")
	Purge = define[PurgeRequest, PurgeResult]("purge", "DELETE", "/v1/memories/{id}/purge", Destructive,
		"Delete a memory permanently from every file of this device. This cannot be undone; to move it to the "+
			"trash, use forget.")
	Undo = define[UndoRequest, UndoResult]("undo", "POST", "/v1/undo", Write,
		"Revert a journal entry; by default the newest one of this device that a caller requested and that was "+
			"not undone. To list entries, use journal. Returns what changed for each memory and note.")
	TrashList = define[TrashListRequest, TrashListResult]("trash.list", "GET", "/v1/trash", Read,
		"List the memories in the trash, newest first. To restore them, use trash.restore.")
	TrashRestore = define[TrashRestoreRequest, TrashRestoreResult]("trash.restore", "POST", "/v1/trash/restore", Write,
		"Restore memories from the trash. To restore everything that one deletion removed, use undo.")
	Status = define[StatusRequest, StatusResult]("status", "GET", "/v1/status", Read,
		"Show the state of the daemon: log, index, folders and warnings. For counts of memories, use stats.")
	VaultCheck = define[VaultCheckRequest, VaultCheckResult]("vault.check", "GET", "/v1/vault/check", Read,
		"Read every note of the vault and list problems: broken links, invalid properties, unreadable notes, and "+
			"notes that differ from their memories.")
	VaultConfirm = define[VaultConfirmRequest, VaultConfirmResult]("vault.confirm", "POST", "/v1/vault/confirm", Write,
		"Confirm that notes that went missing together were deleted on purpose, and delete their memories too. No "+
			"note is changed.")
	VaultLinks = define[VaultLinksRequest, VaultLinksResult]("vault.links", "POST", "/v1/vault/links", Write,
		"Write the links of memories into their notes now: entities and relations, also into notes that emberd leaves "+
			"alone otherwise. Returns the notes that changed and the entry to undo.")
	VaultRelease = define[VaultReleaseRequest, VaultHoldResult]("vault.release", "POST", "/v1/vault/release", Write,
		"Close every file and folder of the vault, so that its disk can be unmounted. Until vault.open, searches "+
			"use the index, no note counts as deleted, and writes to notes wait.")
	VaultOpen = define[VaultOpenRequest, VaultHoldResult]("vault.open", "POST", "/v1/vault/open", Write,
		"Open the vault again after vault.release.")
	Links = define[LinksRequest, LinksResult]("links", "GET", "/v1/links", Read,
		"List the links of a note, and the notes that link to it. For the text and related memories too, use "+
			"note.context.")
	Open = define[OpenRequest, OpenResult]("open", "GET", "/v1/open", Read,
		"Return the obsidian:// link that opens a note, or the note of a memory.")
	NoteRead = define[NoteReadRequest, NoteReadResult]("note.read", "GET", "/v1/note", Read,
		"Read the text of a note, whole or from an offset. For its links and related memories too, use "+
			"note.context.")
	NoteWrite = define[NoteWriteRequest, NoteChangeResult]("note.write", "POST", "/v1/note", Destructive,
		"Create a note, or replace a whole note that the caller has read. To change a part, use note.edit; to add "+
			"text, use note.append. Returns the difference and the entry to undo.")
	NoteAppend = define[NoteAppendRequest, NoteChangeResult]("note.append", "POST", "/v1/note/append", Write,
		"Add text at the end of a note or of a section. To create a note, use note.write. Returns the difference "+
			"and the entry to undo.")
	NoteEdit = define[NoteEditRequest, NoteChangeResult]("note.edit", "POST", "/v1/note/edit", Destructive,
		"Replace text or a section of a note, and set or remove properties. To add text at the end, use "+
			"note.append. Returns the difference and the entry to undo.")
	NoteMove = define[NoteMoveRequest, NoteChangeResult]("note.move", "POST", "/v1/note/move", Destructive,
		"Rename or move a note, and rewrite the links to it. Returns the notes whose links changed, and the entry "+
			"to undo.")
	NoteContext = define[NoteContextRequest, NoteContextResult]("note.context", "GET", "/v1/note/context", Read,
		"Read a note with its links in both directions and related memories, within a limit of tokens. For the "+
			"text alone, use note.read.")
	RecentActivity = define[RecentActivityRequest, RecentActivityResult]("recent.activity", "GET", "/v1/recent", Read,
		"List the notes and memories that changed last, and who changed them. For all changes with their entries, "+
			"use journal.")
	Hook = define[HookRequest, HookResult]("hook", "POST", "/v1/hook", Write,
		"Take an event of a session of a coding agent: keep what is worth it, and return what the model should know.")
	SessionList = define[SessionListRequest, SessionListResult]("session.list", "GET", "/v1/sessions", Read,
		"List the sessions of coding agents, and what hooks showed and kept in them.")
	SessionForget = define[SessionForgetRequest, SessionForgetResult]("session.forget", "POST", "/v1/sessions/forget",
		Destructive,
		"Take back what hooks kept of one session: its memories go to the trash.")
	Complete = define[CompleteRequest, CompleteResult]("complete", "GET", "/v1/complete", Read,
		"Complete the beginning of a tag, an ID, a project or the path of a note.")
	Keeper = define[KeeperRequest, KeeperResult]("keeper", "GET", "/v1/keeper", Read,
		"Show which device is primary and does background work that must run once.")
	KeeperHere = define[KeeperHereRequest, KeeperResult]("keeper.here", "POST", "/v1/keeper", Write,
		"Make this device the primary one, which does background work that must run once.")
	History = define[HistoryRequest, HistoryResult]("history", "GET", "/v1/memories/{id}/history", Read,
		"List the versions of one memory that the log still contains, newest first. For the changes of all "+
			"memories, use journal.")
	Journal = define[JournalRequest, JournalResult]("journal", "GET", "/v1/journal", Read,
		"List changes with their entry, their caller and whether they were undone, newest first. To revert one, "+
			"use undo; for reads too, use audit.")
	Audit = define[AuditRequest, AuditResult]("audit", "GET", "/v1/audit", Read,
		"Show what each caller read, wrote, merged and deleted, and how much of it was of use. For changes alone, "+
			"use journal.")
	AuditForgive = define[AuditForgiveRequest, AuditForgiveResult]("audit.forgive", "POST", "/v1/audit/forgive", Write,
		"Reset the throttling of a caller, which is rated again from its next calls on.")
	Why = define[WhyRequest, WhyResult]("why", "GET", "/v1/memories/{id}/why", Read,
		"Explain the score and the stage of a memory, what happens to it next, and what one use would change. For "+
			"its score over time, use timeline.")
	Timeline = define[TimelineRequest, TimelineResult]("timeline", "GET", "/v1/memories/{id}/timeline", Read,
		"Return the score of a memory from its creation to some days ahead, with the events that changed it.")
	QuarantineList = define[QuarantineListRequest, QuarantineListResult]("quarantine.list", "GET", "/v1/quarantine",
		Read,
		"List the damaged log lines in quarantine. To see what a line contains, use quarantine.show.")
	QuarantineShow = define[QuarantineShowRequest, QuarantineShowResult]("quarantine.show", "GET",
		"/v1/quarantine/{id}", Read,
		"Show one damaged log line, and what accepting it would change.")
	QuarantineAccept = define[QuarantineAcceptRequest, QuarantineAcceptResult]("quarantine.accept", "POST",
		"/v1/quarantine/{id}/accept", Write,
		"Accept a damaged log line: write the parts that no later entry replaced as a new entry. To see them "+
			"first, use quarantine.show.")
	QuarantineDrop = define[QuarantineDropRequest, QuarantineDropResult]("quarantine.drop", "DELETE",
		"/v1/quarantine/{id}", Destructive,
		"Delete the copy of a damaged log line permanently.")
	StaleList = define[StaleListRequest, StaleListResult]("stale.list", "GET", "/v1/stale", Read,
		"List memories of a device that was offline for long and that wait for a decision. To decide, use "+
			"stale.decide.")
	StaleDecide = define[StaleDecideRequest, StaleDecideResult]("stale.decide", "POST", "/v1/stale/{id}", Write,
		"Keep a memory of a device that was offline for long, or leave it deleted.")
	BackupCreate = define[BackupCreateRequest, BackupCreateResult]("backup.create", "POST", "/v1/backups", Write,
		"Write the whole log, as of one moment, to one file. Returns the file and its size.")
	Export = define[ExportRequest, ExportResult]("export", "GET", "/v1/export", Read,
		"Return every memory as it is stored, including the trash, a page at a time.")
	Import = define[ImportRequest, ImportResult]("import", "POST", "/v1/import", Write,
		"Import the records of an export. Memories that exist already do not change.")
	Stats = define[StatsRequest, StatsResult]("stats", "GET", "/v1/stats", Read,
		"Count memories by stage, collection, project and tag. For the state of the daemon, use status.")
	Compact = define[CompactRequest, CompactResult]("compact", "POST", "/v1/compact", Write,
		"Rewrite the sealed segments of the log without superseded versions, which move to the history. Returns "+
			"the files that it read and wrote.")
	Relate = define[RelateRequest, RelateResult]("relate", "POST", "/v1/relations", Write,
		"Create a typed relation from one memory to another. For many relations, use relate_batch. Returns the "+
			"relation with its ID.")
	RelateBatch = define[RelateBatchRequest, RelateBatchResult]("relate_batch", "POST", "/v1/relations/batch", Write,
		"Create many relations as one journal entry. Returns a relation or an error for each item.")
	Unrelate = define[UnrelateRequest, UnrelateResult]("unrelate", "DELETE", "/v1/relations/{id}", Destructive,
		"Remove relations; undo restores them.")
	Graph = define[GraphRequest, GraphResult]("graph", "GET", "/v1/graph", Read,
		"Return memories and the relations between them, a page at a time. For the surroundings of one memory, "+
			"note or entity, use knowledge.")
	OpenMany = define[OpenManyRequest, OpenManyResult]("open_many", "GET", "/v1/memories/open", Read,
		"Open up to 100 memories by their IDs, with whole texts and relations. Opening counts as a use unless "+
			"track is false, and restores memories that were merged into another one.")
	ForgetBatch = define[ForgetBatchRequest, ForgetResult]("forget_batch", "POST", "/v1/memories/forget", Destructive,
		"Move many memories to the trash as one journal entry, which undo reverts. Returns what happened to each.")
	AnalyzeMessage = define[AnalyzeMessageRequest, AnalyzeMessageResult]("analyze.message", "POST",
		"/v1/analyze/message", Read,
		"Rate whether a message contains something worth saving, and suggest entities, tags and strength. Saves "+
			"nothing.")
	AnalyzeRecall = define[AnalyzeRecallRequest, AnalyzeRecallResult]("analyze.recall", "POST", "/v1/analyze/recall",
		Read,
		"Rate whether a message asks for something saved earlier, and suggest a query. Searches nothing.")
	Observe = define[ObserveRequest, ObserveResult]("observe", "POST", "/v1/observe", Write,
		"Record that memories were used in an answer: each gets one use and one review, and more strength if the "+
			"tags of the answer differ from its own. For one memory without an answer, use touch.")
	Add = define[AddRequest, AddResult]("add", "POST", "/v1/add", Write,
		"Save a text unless it is known. If it is known, the known memory is reinforced. Returns the memory and "+
			"the contradictions.")
	Query = define[QueryRequest, QueryResult]("query", "GET", "/v1/query", Read,
		"Answer a query from memories and notes, the knowledge graph, or the archive. For plain results with "+
			"filters, use search.")
	Verify = define[VerifyRequest, VerifyResult]("verify", "GET", "/v1/verify", Read,
		"Compare a claim with memories and notes: confirmed, related, new, or in conflict. Returns the matches; "+
			"saves nothing.")
	Reinforce = define[ReinforceRequest, ReinforceResult]("reinforce", "POST", "/v1/reinforce", Write,
		"Raise the importance of the memory that a text matches, because it came up again, and add the new "+
			"evidence. Saves nothing new; for that, use add.")
	Confirm = define[ConfirmRequest, ConfirmResult]("confirm", "POST", "/v1/memories/{id}/confirm", Write,
		"Confirm a text from a tool or the web, so that it ranks like all other memories.")
	EntityList = define[EntityListRequest, EntityListResult]("entity.list", "GET", "/v1/entities", Read,
		"List the entities that memories and notes name, with the number of mentions. For the surroundings of "+
			"one, use knowledge.")
	Knowledge = define[KnowledgeRequest, KnowledgeResult]("knowledge", "GET", "/v1/knowledge", Read,
		"Return the part of the knowledge graph around a memory, a note or an entity. For all memories and "+
			"relations, use graph.")
	EngineStatus = define[EngineStatusRequest, EngineStatusResult]("engine.status", "GET", "/v1/engine", Read,
		"Show how embeddings of memories and notes are made, and how many exist.")
	EnginePause = define[EnginePauseRequest, EngineStatusResult]("engine.pause", "POST", "/v1/engine/pause", Write,
		"Pause the making of embeddings until it is resumed.")
	EngineResume = define[EngineResumeRequest, EngineStatusResult]("engine.resume", "POST", "/v1/engine/resume", Write,
		"Resume the making of embeddings, and retry failed ones.")
	Embed = define[EmbedRequest, EmbedResult]("embed", "POST", "/v1/embed", Read,
		"Return the embeddings of some texts, and their similarity to each other.")
	TokenCreate = define[TokenCreateRequest, TokenCreateResult]("token.create", "POST", "/v1/tokens", Write,
		"Create an access token, which limits what a caller can see and change. Only this answer contains its "+
			"secret.")
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
