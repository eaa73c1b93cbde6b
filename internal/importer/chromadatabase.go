package importer

import (
	"context"
	"encoding/json"
	"strings"
)

// ChromaDatabase reads chroma.sqlite3 of ChromaDB, or the folder that contains it, with all collections: documents,
// metadata, ids and when a record was added. Records get the same ids as from what collection.get() returns. A
// collection of a database other than the default one is called DATABASE/COLLECTION.
func ChromaDatabase(ctx context.Context, name string, o *Options) (*Result, error) {
	return readDatabase(ctx, "chroma", name, o, func(d *database) error {
		c := &chromaDatabase{database: d, chroma: chroma{builder: d.builder, byName: map[string][]chromaID{}}}
		if err := d.rows(ctx, c.tables(), c.query(), c.cell); err != nil {
			return err
		}
		c.end()
		c.relate()
		return c.pending(ctx)
	})
}

type chromaDatabase struct {
	*database
	chroma
	head  record // what all rows of the record that is being read have
	open  record // metadata of that record, nil before the first
	at    Place
	lists map[string][]json.RawMessage // metadata of it that are lists
}

func (c *chromaDatabase) tables() []string {
	all := []string{"embeddings", "embedding_metadata", "segments", "collections"}
	for _, table := range []string{"embedding_metadata_array", "databases"} {
		if c.has(table, "id") {
			all = append(all, table)
		}
	}
	return all
}

// query returns one row for each metadata of each record, with those of a record together. The tables are those of
// chromadb/migrations: versions before 0.4.15 have no databases or booleans, and before 1.4 no lists.
func (c *chromaDatabase) query() string {
	database, databases, truth := "NULL", "", "NULL"
	if c.has("collections", "database_id") {
		database, databases = "d.name", " LEFT JOIN databases d ON d.id = c.database_id"
	}
	if c.has("embedding_metadata", "bool_value") {
		truth = "bool_value"
	}
	values := "id, key, string_value, int_value, float_value, " + truth + " AS bool_value, rowid AS place"
	metadata := "SELECT 0 AS listed, " + values + " FROM embedding_metadata"
	if c.has("embedding_metadata_array", "id") {
		metadata += " UNION ALL SELECT 1, " + strings.Replace(values, truth+" AS", "bool_value AS", 1) +
			" FROM embedding_metadata_array"
	}
	return "SELECT e.id AS row, e.embedding_id AS name, e.created_at AS added, c.name AS collection, " + database +
		" AS database, m.listed, m.key, m.string_value, m.int_value, m.float_value, m.bool_value FROM embeddings e" +
		" JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection" + databases +
		" LEFT JOIN (" + metadata + ") m ON m.id = e.id ORDER BY e.id, m.listed, m.place"
}

// cell takes one metadata of a record.
func (c *chromaDatabase) cell(s record, at Place) error {
	if c.open == nil || string(s["row"]) != string(c.head["row"]) {
		c.end()
		c.head, c.open, c.at, c.lists = s, record{}, at, map[string][]json.RawMessage{}
	}
	var key string
	if json.Unmarshal(s["key"], &key) != nil {
		return nil // a record without metadata
	}
	value := metadataOf(s)
	switch {
	case value == nil:
	case plain(s["listed"]) == "1":
		c.lists[key] = append(c.lists[key], value)
	default:
		c.open[key] = value
	}
	return nil
}

// metadataOf returns the value of a metadata, which is in the column of its type, and nil if there is none.
func metadataOf(s record) json.RawMessage {
	switch truth := string(s["bool_value"]); truth {
	case "0", "false":
		return json.RawMessage("false")
	case "1", "true":
		return json.RawMessage("true")
	}
	for _, column := range []string{"string_value", "int_value", "float_value"} {
		if s[column] != nil {
			return s[column]
		}
	}
	return nil
}

// end makes a memory of the record that was read.
func (c *chromaDatabase) end() {
	if c.open == nil {
		return
	}
	for key, list := range c.lists {
		c.open[key] = encoded(list)
	}
	s := record{"id": c.head["name"], "collection": encoded(c.collectionName()), "chroma:added": c.head["added"]}
	for own, key := range map[string]string{"chroma:document": "document", "chroma:uri": "uri"} {
		if value := c.open[own]; value != nil {
			s[key] = value
			delete(c.open, own)
		}
	}
	s["metadata"] = encoded(c.open)
	c.record(s, c.at)
	c.open = nil
}

func (c *chromaDatabase) collectionName() string {
	name, database := plain(c.head["collection"]), plain(c.head["database"])
	if database == "" || database == "default_database" {
		return name
	}
	return database + "/" + name
}

// pending reports the collections with changes that ChromaDB wrote to its queue and not to its tables, because it was
// killed in between.
func (c *chromaDatabase) pending(ctx context.Context) error {
	if !c.has("embeddings_queue", "topic") || !c.has("max_seq_id", "segment_id") {
		return nil
	}
	const query = "SELECT c.name AS row, count(*) AS changes FROM collections c" +
		" JOIN segments s ON s.collection = c.id AND s.scope = 'METADATA' JOIN max_seq_id m ON m.segment_id = s.id" +
		" JOIN embeddings_queue q ON q.seq_id > m.seq_id AND substr(q.topic, -length(c.id)) = c.id" +
		" WHERE typeof(m.seq_id) = 'integer' GROUP BY c.id"
	return c.rows(ctx, []string{"collections", "segments", "max_seq_id", "embeddings_queue"}, query,
		func(s record, at Place) error {
			c.database.note(at, "ChromaDB has not applied %s changes of the collection %q yet; "+
				"open the collection with ChromaDB once, and then import it again", plain(s["changes"]),
				plain(s["row"]))
			return nil
		})
}
