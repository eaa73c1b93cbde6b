package op

// The operations.
var (
	Save = define[SaveRequest, SaveResult]("save", "POST", "/v1/memories", Write,
		"Save a memory; it is on disk when the answer comes.")
	SaveBatch = define[SaveBatchRequest, SaveBatchResult]("save_batch", "POST", "/v1/memories/batch", Write,
		"Save many memories as one journal entry, each item answered for itself.")
	Search = define[SearchRequest, SearchResult]("search", "GET", "/v1/search", Read,
		"Search by words, best match first.")
	WhyNot = define[WhyNotRequest, WhyNotResult]("why_not", "GET", "/v1/why-not", Read,
		"Tell which stage of a search keeps a memory or note out of its answer, and what would change that.")
	Show = define[ShowRequest, ShowResult]("show", "GET", "/v1/memories/{id}", Read,
		"Open one memory whole; it fades later for that unless track is false.")
	List = define[ListRequest, ListResult]("list", "GET", "/v1/memories", Read,
		"List memories by filter, a page at a time.")
	Edit = define[EditRequest, EditResult]("edit", "PATCH", "/v1/memories/{id}", Write,
		"Change the given fields of a memory; the earlier version is kept.")
	Forget = define[ForgetRequest, ForgetResult]("forget", "DELETE", "/v1/memories/{id}", Destructive,
		"Move memories to the trash, from where they can be restored for 30 days.")
	Promote = define[PromoteRequest, PromoteResult]("promote", "POST", "/v1/memories/{id}/promote", Write,
		"Give a memory a note in the vault, which from then on decides its text; nothing is done twice.")
	Archive = define[ArchiveRequest, ArchiveResult]("archive", "POST", "/v1/memories/{id}/archive", Write,
		"Leave of memories one sentence each, with their text safe in notes of the vault.")
	Rekindle = define[RekindleRequest, RekindleAnswer]("rekindle", "POST", "/v1/rekindle", Write,
		"Give an archived memory its text back from its note, whatever became of that, or find the one that words "+
			"mean.")
	PromoteAuto = define[PromoteAutoRequest, PromoteAutoResult]("promote.auto", "POST", "/v1/promote", Write,
		"Give a note to every memory that deserves one by score and use.")
	Touch = define[TouchRequest, TouchResult]("touch", "POST", "/v1/memories/{id}/touch", Write,
		"Reinforce a memory: count a use of it, and raise its strength if asked to.")
	GC = define[GCRequest, GCResult]("gc", "POST", "/v1/gc", Destructive,
		"Collect the memories with the lowest decay scores into the trash, or archive them; a dry run unless told "+
			"otherwise.")
	Clusters = define[ClustersRequest, ClustersResult]("clusters", "GET", "/v1/clusters", Read,
		"Group memories that say nearly the same, or list pairs of them.")
	Consolidate = define[ConsolidateRequest, ConsolidateResult]("consolidate", "POST", "/v1/consolidate", Write,
		"Merge the memories of a cluster into one, or relate them to each other; a preview unless told otherwise.")
	AgentsRun = define[AgentsRunRequest, AgentsRunResult]("agents.run", "POST", "/v1/agents/run", Write,
		"Look after the memories: those at risk, those alike, those that deserve a note, those that are related; "+
			"what it changes is one journal entry.")
	ReviewList = define[ReviewListRequest, ReviewListResult]("review.list", "GET", "/v1/review", Read,
		"List what waits for somebody's decision.")
	ReviewShow = define[ReviewShowRequest, ReviewShowResult]("review.show", "GET", "/v1/review/{id}", Read,
		"Show one review item with its memories, what is different in them, and what can be decided.")
	ReviewClaim = define[ReviewClaimRequest, ReviewChangeResult]("review.claim", "POST", "/v1/review/{id}/claim", Write,
		"Say that somebody works on a review item, so that nobody else does.")
	ReviewClose = define[ReviewCloseRequest, ReviewChangeResult]("review.close", "POST", "/v1/review/{id}/close",
		Destructive,
		"Close a review item, after its decision, if one is given, was carried out.")
	ReviewCreate = define[ReviewCreateRequest, ReviewChangeResult]("review.create", "POST", "/v1/review", Write,
		"File a review item about some memories; the same set of them is never open twice.")
	Health = define[HealthRequest, HealthResult]("health", "GET", "/v1/health", Read,
		"Report on the health of the memories: what is stale, hardly found, double, at risk, of low quality.")
	HealthStale = define[HealthStaleRequest, HealthStaleResult]("health.stale", "GET", "/v1/health/stale", Read,
		"List memories that no search has returned for long.")
	HealthLowAccess = define[HealthLowAccessRequest, HealthLowAccessResult]("health.low_access", "GET",
		"/v1/health/low-access", Read,
		"List memories that searches hardly ever return.")
	HealthDuplicates = define[HealthDuplicatesRequest, HealthDuplicatesResult]("health.duplicates", "GET",
		"/v1/health/duplicates", Read,
		"List pairs of memories that say nearly the same.")
	HealthMerge = define[HealthMergeRequest, HealthMergeResult]("health.consolidate", "POST", "/v1/health/consolidate",
		Destructive,
		"Keep one of two similar memories, with the counts and relations of both; the other goes to the trash.")
	Migrate = define[MigrateRequest, MigrateResult]("migrate", "POST", "/v1/migrate", Write,
		"Bring old records up to date; doing it twice changes nothing.")
	Cleanup = define[CleanupRequest, CleanupRun]("cleanup", "POST", "/v1/cleanup", Destructive,
		"Clean up a collection: what is double, contradicts or is of no use; a plan unless told to execute, and one "+
			"journal entry.")
	CleanupReport = define[CleanupReportRequest, CleanupReportResult]("cleanup.report", "GET", "/v1/cleanup/report",
		Read,
		"Give the report on a cleanup run.")
	CleanupRollback = define[CleanupRollbackRequest, CleanupRollbackResult]("cleanup.rollback", "POST",
		"/v1/cleanup/rollback", Write,
		"Take a cleanup run back, whole.")
	CleanupHistory = define[CleanupHistoryRequest, CleanupHistoryResult]("cleanup.history", "GET", "/v1/cleanup", Read,
		"List the cleanup runs, the latest first.")
	LifecycleRun = define[LifecycleRunRequest, LifecycleRunResult]("lifecycle.run", "POST", "/v1/lifecycle/run", Write,
		"Demote, archive and promote now what is due; one journal entry, which undo takes back.")
	LifecycleStatus = define[LifecycleStatusRequest, LifecycleStatusResult]("lifecycle.status", "GET", "/v1/lifecycle",
		Read,
		"Tell what fades, when the next run is, and why nothing moves.")
	Purge = define[PurgeRequest, PurgeResult]("purge", "DELETE", "/v1/memories/{id}/purge", Destructive,
		"Remove a memory for good, from every file of this device; nothing takes that back.")
	Undo = define[UndoRequest, UndoResult]("undo", "POST", "/v1/undo", Write,
		"Take back a journal entry, by default the newest of this device that somebody asked for and that still "+
			"stands.")
	TrashList = define[TrashListRequest, TrashListResult]("trash.list", "GET", "/v1/trash", Read,
		"List what is in the trash, newest first.")
	TrashRestore = define[TrashRestoreRequest, TrashRestoreResult]("trash.restore", "POST", "/v1/trash/restore", Write,
		"Bring memories back from the trash.")
	Status = define[StatusRequest, StatusResult]("status", "GET", "/v1/status", Read,
		"Tell how the daemon is: log, index, folders, warnings.")
	VaultCheck = define[VaultCheckRequest, VaultCheckResult]("vault.check", "GET", "/v1/vault/check", Read,
		"Read every note and list what is wrong: broken links, bad frontmatter, what cannot be read, notes and "+
			"memories that do not agree.")
	VaultConfirm = define[VaultConfirmRequest, VaultConfirmResult]("vault.confirm", "POST", "/v1/vault/confirm", Write,
		"Say that notes that went missing together were meant to go, and the memories made of them; no note is "+
			"touched.")
	VaultRelease = define[VaultReleaseRequest, VaultHoldResult]("vault.release", "POST", "/v1/vault/release", Write,
		"Close every file and folder of the vault, so that its disk can be unmounted; searches answer from the "+
			"index, no note counts as deleted, and writes to notes wait.")
	VaultOpen = define[VaultOpenRequest, VaultHoldResult]("vault.open", "POST", "/v1/vault/open", Write,
		"Open a vault again that was released.")
	Links = define[LinksRequest, LinksResult]("links", "GET", "/v1/links", Read,
		"List the links of a note, and the notes that link to it.")
	Open = define[OpenRequest, OpenResult]("open", "GET", "/v1/open", Read,
		"Give the obsidian:// link that opens a note, or the note of a memory.")
	NoteRead = define[NoteReadRequest, NoteReadResult]("note.read", "GET", "/v1/note", Read,
		"Read the text of a note, whole or from some place on.")
	NoteWrite = define[NoteWriteRequest, NoteChangeResult]("note.write", "POST", "/v1/note", Destructive,
		"Create a note, or replace one that is as the caller read it.")
	NoteAppend = define[NoteAppendRequest, NoteChangeResult]("note.append", "POST", "/v1/note/append", Write,
		"Add a text at the end of a note or of a section.")
	NoteEdit = define[NoteEditRequest, NoteChangeResult]("note.edit", "POST", "/v1/note/edit", Destructive,
		"Replace a text or a section of a note, and set or remove properties.")
	NoteMove = define[NoteMoveRequest, NoteChangeResult]("note.move", "POST", "/v1/note/move", Destructive,
		"Rename or move a note; links that lead to it follow.")
	NoteContext = define[NoteContextRequest, NoteContextResult]("note.context", "GET", "/v1/note/context", Read,
		"Read a note with its links in both directions and related memories, within a bound.")
	RecentActivity = define[RecentActivityRequest, RecentActivityResult]("recent.activity", "GET", "/v1/recent", Read,
		"List the notes and memories that changed last, and who changed them.")
	Hook = define[HookRequest, HookResult]("hook", "POST", "/v1/hook", Write,
		"Take an event of a session of a coding agent: keep what is worth it, and return what the model should know.")
	SessionList = define[SessionListRequest, SessionListResult]("session.list", "GET", "/v1/sessions", Read,
		"List the sessions of coding agents, and what hooks showed and kept in them.")
	SessionForget = define[SessionForgetRequest, SessionForgetResult]("session.forget", "POST", "/v1/sessions/forget",
		Destructive,
		"Take back what hooks kept of one session: its memories go to the trash.")
	Complete = define[CompleteRequest, CompleteResult]("complete", "GET", "/v1/complete", Read,
		"Complete the beginning of a tag, an id, a project or the path of a note.")
	Keeper = define[KeeperRequest, KeeperResult]("keeper", "GET", "/v1/keeper", Read,
		"Tell which of several devices does the work that only one may do.")
	KeeperHere = define[KeeperHereRequest, KeeperResult]("keeper.here", "POST", "/v1/keeper", Write,
		"Make this device the one that does the work that only one may do.")
	History = define[HistoryRequest, HistoryResult]("history", "GET", "/v1/memories/{id}/history", Read,
		"List every version of a memory that the log still tells of, newest first.")
	Journal = define[JournalRequest, JournalResult]("journal", "GET", "/v1/journal", Read,
		"List what was changed, by whom and whether it was undone, newest first.")
	Audit = define[AuditRequest, AuditResult]("audit", "GET", "/v1/audit", Read,
		"Tell which caller read, wrote, merged and forgot what, and what came of it.")
	AuditForgive = define[AuditForgiveRequest, AuditForgiveResult]("audit.forgive", "POST", "/v1/audit/forgive", Write,
		"Forget what a caller is judged by, so that it is throttled no more and judged anew.")
	Why = define[WhyRequest, WhyResult]("why", "GET", "/v1/memories/{id}/why", Read,
		"Take the score and the stage of a memory apart, and tell what happens to it next and what one use would "+
			"change.")
	Timeline = define[TimelineRequest, TimelineResult]("timeline", "GET", "/v1/memories/{id}/timeline", Read,
		"Give the score of a memory from when it was made to some days ahead, and what happened to it.")
	QuarantineList = define[QuarantineListRequest, QuarantineListResult]("quarantine.list", "GET", "/v1/quarantine",
		Read,
		"List the damaged log lines that were passed over.")
	QuarantineShow = define[QuarantineShowRequest, QuarantineShowResult]("quarantine.show", "GET",
		"/v1/quarantine/{id}", Read,
		"Show one damaged log line, and what accepting it would change.")
	QuarantineAccept = define[QuarantineAcceptRequest, QuarantineAcceptResult]("quarantine.accept", "POST",
		"/v1/quarantine/{id}/accept", Write,
		"Say that a damaged log line is right: what of it was not written again since is written as a new entry.")
	QuarantineDrop = define[QuarantineDropRequest, QuarantineDropResult]("quarantine.drop", "DELETE",
		"/v1/quarantine/{id}", Destructive,
		"Say that a damaged log line is not needed; its copy is removed for good.")
	StaleList = define[StaleListRequest, StaleListResult]("stale.list", "GET", "/v1/stale", Read,
		"List memories of a device that was silent for long, which wait for a decision.")
	StaleDecide = define[StaleDecideRequest, StaleDecideResult]("stale.decide", "POST", "/v1/stale/{id}", Write,
		"Keep a memory that waits for a decision, or leave it deleted.")
	BackupCreate = define[BackupCreateRequest, BackupCreateResult]("backup.create", "POST", "/v1/backups", Write,
		"Write the whole log, as of one moment, into one file.")
	Export = define[ExportRequest, ExportResult]("export", "GET", "/v1/export", Read,
		"Give every memory as it is stored, those in the trash too, a page at a time.")
	Import = define[ImportRequest, ImportResult]("import", "POST", "/v1/import", Write,
		"Take in records of an export; what is there already stays as it is.")
	Stats = define[StatsRequest, StatsResult]("stats", "GET", "/v1/stats", Read,
		"Count memories by stage, collection, project and tag.")
	Compact = define[CompactRequest, CompactResult]("compact", "POST", "/v1/compact", Write,
		"Fold the log's sealed files, keeping superseded versions in a history.")
	Relate = define[RelateRequest, RelateResult]("relate", "POST", "/v1/relations", Write,
		"Say how one memory stands to another.")
	RelateBatch = define[RelateBatchRequest, RelateBatchResult]("relate_batch", "POST", "/v1/relations/batch", Write,
		"Make many relations as one journal entry, each item answered for itself.")
	Unrelate = define[UnrelateRequest, UnrelateResult]("unrelate", "DELETE", "/v1/relations/{id}", Destructive,
		"Remove relations; undo brings them back.")
	Graph = define[GraphRequest, GraphResult]("graph", "GET", "/v1/graph", Read,
		"Give memories and the relations between them, a page at a time.")
	OpenMany = define[OpenManyRequest, OpenManyResult]("open_many", "GET", "/v1/memories/open", Read,
		"Open memories whole, with their relations; unless track is false they fade later for that, and it brings "+
			"back what was merged into another.")
	ForgetBatch = define[ForgetBatchRequest, ForgetResult]("forget_batch", "POST", "/v1/memories/forget", Destructive,
		"Move many memories to the trash as one journal entry.")
	AnalyzeMessage = define[AnalyzeMessageRequest, AnalyzeMessageResult]("analyze.message", "POST",
		"/v1/analyze/message", Read,
		"Judge whether a message says something worth keeping, and as what.")
	AnalyzeRecall = define[AnalyzeRecallRequest, AnalyzeRecallResult]("analyze.recall", "POST", "/v1/analyze/recall",
		Read,
		"Judge whether a message asks for something kept earlier, and what to search for.")
	Observe = define[ObserveRequest, ObserveResult]("observe", "POST", "/v1/observe", Write,
		"Record that memories were used in an answer: one use and one review each, and more strength for use in "+
			"another domain.")
	Add = define[AddRequest, AddResult]("add", "POST", "/v1/add", Write,
		"Remember something unless it is known: what says it already is reinforced, and what disagrees is told.")
	Query = define[QueryRequest, QueryResult]("query", "GET", "/v1/query", Read,
		"Tell what is known, in memories and notes, in the knowledge graph, or in the archive.")
	Verify = define[VerifyRequest, VerifyResult]("verify", "GET", "/v1/verify", Read,
		"Compare a claim with what is known: confirmed, related, new, or in conflict.")
	Reinforce = define[ReinforceRequest, ReinforceResult]("reinforce", "POST", "/v1/reinforce", Write,
		"Say that something known was learned once more, with the new evidence.")
	Confirm = define[ConfirmRequest, ConfirmResult]("confirm", "POST", "/v1/memories/{id}/confirm", Write,
		"Say that what a tool or the web said holds, so that it counts like all other memories.")
	EntityList = define[EntityListRequest, EntityListResult]("entity.list", "GET", "/v1/entities", Read,
		"List the entities that memories and notes name.")
	Knowledge = define[KnowledgeRequest, KnowledgeResult]("knowledge", "GET", "/v1/knowledge", Read,
		"Give the part of the knowledge graph around a memory, a note or an entity.")
	EngineStatus = define[EngineStatusRequest, EngineStatusResult]("engine.status", "GET", "/v1/engine", Read,
		"Tell how the vectors of memories and notes are made, and how many there are.")
	EnginePause = define[EnginePauseRequest, EngineStatusResult]("engine.pause", "POST", "/v1/engine/pause", Write,
		"Stop the making of vectors, until it is resumed.")
	EngineResume = define[EngineResumeRequest, EngineStatusResult]("engine.resume", "POST", "/v1/engine/resume", Write,
		"Let the making of vectors go on, and try anew what failed.")
	Embed = define[EmbedRequest, EmbedResult]("embed", "POST", "/v1/embed", Read,
		"Give the vectors of some texts, and how near they are to each other.")
	TokenCreate = define[TokenCreateRequest, TokenCreateResult]("token.create", "POST", "/v1/tokens", Write,
		"Make a capability token, which limits what who shows it may see and change; its secret is told here alone.")
	TokenList = define[TokenListRequest, TokenListResult]("token.list", "GET", "/v1/tokens", Read,
		"List the capability tokens, without their secrets.")
	TokenRevoke = define[TokenRevokeRequest, TokenRevokeResult]("token.revoke", "DELETE", "/v1/tokens/{name}",
		Destructive,
		"Revoke a capability token at once; nothing takes that back.")
	Version = define[VersionRequest, VersionResult]("version", "GET", "/v1/version", Read,
		"Tell which daemon this is and which protocol it speaks.")
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
		VaultCheck.Spec, VaultConfirm.Spec, VaultRelease.Spec, VaultOpen.Spec,
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
