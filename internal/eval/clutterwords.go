package eval

// words of generated entries. Nothing of them is from a data set.
func words(kind string) []string {
	switch kind {
	case "first":
		return []string{"amber", "birch", "cobalt", "dune", "ember", "fern", "granite", "harbor", "indigo", "juniper", "kelp", "lantern", "maple", "nimbus",
			"opal", "pepper", "quartz", "raven", "saffron", "thistle", "umber", "velvet", "walnut", "xenon", "yarrow", "zephyr", "basalt", "clover", "drift", "falcon",
			"ginger", "hazel", "ivory", "jasper", "kiwi", "lilac", "marble", "nettle", "onyx", "poppy", "russet", "sorrel", "teal", "vesper", "willow"}
	case "second":
		return []string{"gateway", "scheduler", "ledger", "mailer", "indexer", "planner", "billing", "catalog", "relay", "archiver", "broker", "crawler", "dispatcher",
			"exporter", "forecaster", "gallery", "handler", "importer", "journal", "keeper", "loader", "matcher", "notifier", "orders", "parser", "quota", "router",
			"sampler", "tracker", "uploader", "viewer", "watcher", "collector", "balancer", "composer", "renderer", "translator", "validator", "auditor", "packer"}
	case "name":
		return []string{"Ada", "Bela", "Carla", "Dmitri", "Esra", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kaya", "Lior", "Mina", "Noor", "Oskar", "Paula",
			"Quentin", "Rosa", "Selma", "Tariq", "Ulla", "Viktor", "Wanda", "Ximena", "Yusuf", "Zoe", "Anton", "Bruna", "Cem", "Daria", "Emil", "Fatou", "Gustav", "Hana"}
	case "surname":
		return []string{"Alvarez", "Bergman", "Castell", "Dahl", "Eriksen", "Fontaine", "Gruber", "Haddad", "Ivanov", "Jansen", "Kowalski", "Lindqvist", "Moreau",
			"Nakamura", "Okafor", "Petrov", "Quist", "Rossi", "Schubert", "Tanaka", "Ueda", "Varga", "Weiss", "Xu", "Yilmaz", "Zeller", "Abara", "Brandt", "Costa", "Dufour"}
	case "tech", "other":
		return []string{"Postgres", "Redis", "Kafka", "SQLite", "RabbitMQ", "Elasticsearch", "MinIO", "Cassandra", "NATS", "MySQL", "DuckDB", "Memcached", "Etcd", "Consul"}
	case "cause":
		return []string{"its transactions outlive a restart", "the operators know it from the old system", "nobody wants to run another cluster", "two writers once lost an order",
			"the link to the warehouse drops packets at noon", "the auditors ask for seven years of history", "the mobile clients reconnect in bursts", "its licence allows shipping it",
			"backups finish within the night", "the first prototype ran out of memory", "customers abroad see high latency", "the vendor ends support next spring",
			"the payment provider answers late on Mondays", "schema changes must not lock the table", "a full scan took the shop down once", "the team wrote the driver itself",
			"replays have to give the same totals", "the sensors send everything twice", "the budget for licences was cut", "the search results were stale for hours"}
	case "fix":
		return []string{"restart the worker that holds the lease", "raise the open file limit of the unit", "renew the certificate and reload the proxy", "clear the stale lock in the spool folder",
			"drain the queue before the upgrade", "rebuild the index from the nightly dump", "set the clock of the host right", "remove the half-written segment",
			"add the missing route for the private subnet", "switch the pool to session mode", "replay the dead letters by hand", "pin the driver to the last good release",
			"vacuum the largest table at night", "rotate the token in the vault", "delete the orphaned volume", "warm the cache before traffic is let in"}
	case "err":
		return []string{"connection reset by peer", "too many open files", "certificate has expired", "deadlock detected", "no space left on device", "context deadline exceeded", "invalid checksum", "lease lost", "permission denied", "unexpected end of stream", "stale file handle", "quota exceeded", "name resolution failed", "broken pipe",
			"duplicate key value", "out of shared memory"}
	case "things":
		return []string{"invoices", "thumbnails", "session tokens", "price lists", "sensor readings", "delivery notes", "chat transcripts", "exchange rates", "login events", "search results", "product photos", "tax tables", "route plans", "survey answers", "shift rosters", "parcel labels"}
	case "action":
		return []string{"loading the start page", "closing a month", "printing a label", "signing in", "importing a catalogue", "rendering a map", "sending a newsletter", "exporting a report", "matching a payment", "opening a case", "planning a tour", "checking a voucher"}
	case "rule":
		return []string{"every migration has a way back", "logs name the request and never the customer", "retries carry an idempotency key", "times are stored in UTC",
			"feature flags are removed within a month", "each handler has a timeout of its own", "amounts are integers of cents", "public names are reviewed by two people",
			"tests never sleep", "secrets come from the vault alone", "errors are wrapped once", "queues are bounded"}
	case "aim":
		return []string{"a release can be taken back at night", "support can follow a case", "nothing is charged twice", "reports agree across offices", "dead code stays small",
			"one slow peer stalls nobody", "rounding never costs a cent", "nobody breaks a client unseen", "the suite stays quick", "a leaked image is harmless",
			"the first line of a log says it all", "a burst cannot fill the memory"}
	case "like", "dislike":
		return []string{"green tea", "a standing desk", "plain text", "short meetings", "dark roast coffee", "a paper notebook", "spaces", "window seats", "early trains", "long walks",
			"written proposals", "pair programming", "silence", "tab completion", "squash merges", "a mechanical keyboard", "diagrams", "weekly summaries"}
	case "doing":
		return []string{"writing reports", "reviewing code", "travelling to customers", "debugging races", "preparing a release", "interviewing candidates", "learning a language",
			"cleaning up tickets", "planning a quarter", "reading papers"}
	case "trigger":
		return []string{"a full disk on the primary", "an expired root certificate", "a router that lost its table", "a migration without an index", "a cron job that ran twice",
			"a mistyped firewall rule", "a leap second", "a bad deploy of the proxy", "a power cut in the second hall", "a runaway query of the analysts"}
	case "remedy":
		return []string{"failing over to the replica", "rolling back by hand", "restoring the routing table", "killing the query", "moving the archive away", "replacing the power supply",
			"reissuing the chain", "restarting both proxies", "turning the job off", "adding the index online"}
	case "step":
		return []string{"the smoke tests", "the stand-up", "a dry run in staging", "the backup", "the translation export", "a second review", "the load test", "the change board"}
	case "place":
		return []string{"Oslo", "Porto", "Tampere", "Gdansk", "Bergen", "Turin", "Leipzig", "Nantes", "Malaga", "Aarhus", "Graz", "Ghent", "Split", "Cork"}
	case "day":
		return []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	case "month":
		return []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	case "instrument":
		return []string{"cello", "trumpet", "accordion", "clarinet", "double bass", "harp", "oboe", "piano", "viola", "flute", "mandolin", "drums"}
	case "unit":
		return []string{"rows", "orders", "messages", "uploads", "connections", "jobs", "parcels", "pages"}
	case "symptom":
		return []string{"its queue backs up", "the parser falls behind", "memory runs out", "the lease times out", "labels come out of order", "the proxy drops the rest"}
	case "setting":
		return []string{"pool size", "page size", "cache size", "batch size", "retry limit", "queue length", "thread count", "keep-alive time"}
	case "feature":
		return []string{"partial refunds", "signed uploads", "bulk deletion", "nested folders", "time zones", "compressed uploads", "offline editing", "guest accounts", "dry runs", "webhooks"}
	case "team":
		return []string{"storage", "checkout", "mobile", "search", "logistics", "pricing", "platform", "support", "data", "security"}
	}
	return nil
}
