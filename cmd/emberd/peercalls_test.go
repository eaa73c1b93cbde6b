package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// peerCall is one request to both servers.
type peerCall struct {
	method, params string
	differs        string   // why the answers may differ, "" if they may not
	names          []string // of the entities it is about
}

// heal returns the calls that remove what this one may have made on one side only.
func (c *peerCall) heal() []*peerCall {
	return []*peerCall{peerTool("delete_entities", map[string]any{"entityNames": append([]string{}, c.names...)})}
}

func peerTool(tool string, args any) *peerCall {
	raw, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
	if err != nil {
		panic(err)
	}
	return &peerCall{method: "tools/call", params: string(raw)}
}

func readGraph() *peerCall { return peerTool("read_graph", map[string]any{}) }

// The words that random calls are made of.
var (
	peerNames = []string{"Ada Lovelace", "ada lovelace", "Analytical Engine", "東京", "🚀 Project Ω", "Straße", "İstanbul",
		"ΟΔΟΣ", "Cafe\u0301", "Café", "a/b: c", "- a list", "two\nlines", " spaces ", "toString", "__proto__", "123", "null",
		`"quoted" \ <b>`, "name with a rather long tail, as some models write: the deployment of the staging cluster", "K"}
	peerMissing = []string{"Nobody", "Atlantis", "ADA LOVELACE"}
	peerTypes   = []string{"person", "Machine", "city", "", "プロジェクト", "two words", "type\nof two lines"}
	peerFacts   = []string{"wrote the first program", "born 1815", "東京は日本の首都", "line one\nline two", "- a list\n  - nested",
		"", " leading and trailing ", "İ and ß and Σ", "👩‍💻 works here", "ends with a backslash \\", "# a heading", "same", "tab\there",
		"[[Ada Lovelace]] #tag", "it costs 3.50 €", "a\r\nb", "\n", "trailing line\n", "ΟΔΟΣ ends in a sigma"}
	peerKinds   = []string{"knows", "works at", "depends on", "is named after", "KNOWS", "関係", "has\ttab", "a \"quoted\" kind"}
	peerQueries = []string{"", "ada", "ADA", "program first", "first program", "1815", "東京", "İ", "i̇", "ß", "SS", "οδος", "σ", "ς",
		"- ", "\n", "line one\nline two", "one\n", " ", "\\", "%", "*", "person", "MACHINE", "zzz", "café", "cafe\u0301", "\"", "k", "\t"}
)

// callMaker makes random calls, the same of one seed.
type callMaker struct {
	r     *rand.Rand
	every []func() *peerCall
}

func newCalls(seed uint64) *callMaker {
	m := &callMaker{r: rand.New(rand.NewPCG(seed, 774))}
	for i, makers := range [][]func() *peerCall{
		{m.resource, m.malformed, m.extra, m.subscription, m.refused},
		{m.deleteEntities, m.deleteRelations, m.deleteObservations, readGraph},
		{m.open, m.addObservations, m.relate},
		{m.create, m.search},
	} {
		for range i + 1 { // the later the more often
			m.every = append(m.every, makers...)
		}
	}
	return m
}

func (m *callMaker) next() *peerCall { return m.every[m.r.IntN(len(m.every))]() }

func (m *callMaker) chance(percent int) bool { return m.r.IntN(100) < percent }

func (m *callMaker) of(list []string) string { return list[m.r.IntN(len(list))] }

// some returns up to n words of a list; one can be there several times.
func (m *callMaker) some(list []string, n int) []string {
	out := []string{}
	for range m.r.IntN(n + 1) {
		out = append(out, m.of(list))
	}
	return out
}

// name returns a name, of which one in ten is not an entity.
func (m *callMaker) name() string {
	if m.chance(10) {
		return m.of(peerMissing)
	}
	return m.of(peerNames)
}

func (m *callMaker) namesOf(n int) []string {
	out := []string{}
	for range m.r.IntN(n + 1) {
		out = append(out, m.name())
	}
	return out
}

type peerObject = map[string]any

func (m *callMaker) create() *peerCall {
	list, names := []peerObject{}, []string{}
	for range m.r.IntN(4) {
		name := m.of(peerNames)
		if slices.Contains(names, name) && !m.chance(50) {
			continue
		}
		names = append(names, name)
		list = append(list, peerObject{"name": name, "entityType": m.of(peerTypes), "observations": m.some(peerFacts, 4)})
	}
	c := peerTool("create_entities", peerObject{"entities": list})
	c.names = names
	if repeats(names) {
		c.differs = "two entities of one name in one call are one entity"
	}
	return c
}

// refused returns a call of which emberd refuses or changes something.
func (m *callMaker) refused() *peerCall {
	name := m.of(peerNames) + " of its own"
	entity := peerObject{"name": name, "entityType": "x", "observations": []string{"a fact"}}
	relation := peerObject{"from": name, "to": name, "relationType": "is"}
	create := func(key string, value any) *peerCall {
		entity[key] = value
		return peerTool("create_entities", peerObject{"entities": []peerObject{entity}})
	}
	relate := func(kind string) *peerCall {
		relation["relationType"] = kind
		return peerTool("create_relations", peerObject{"relations": []peerObject{relation}})
	}
	var c *peerCall
	switch m.r.IntN(6) {
	case 0:
		c = create("name", m.of([]string{"", " ", "\n"}))
		c.differs = "an entity has a name"
	case 1:
		c = create("observations", []string{"turned \u202eround"})
		c.differs = "hidden characters are shown"
	case 2:
		c = create("observations", []string{"password = hunter2Xy9!kLmQ"})
		c.differs = "credentials are refused"
	case 3:
		c = create("observations", []string{strings.Repeat("long ", 10_001)})
		c.differs = "an entity has at most 50,000 characters"
	case 4:
		c = relate("")
		c.differs = "a relation has a type"
	default:
		c = relate(strings.Repeat("k", 101))
		c.differs = "the type of a relation has at most 100 characters"
	}
	c.names = []string{name, "", " ", "\n"}
	return c
}

func repeats(list []string) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) < len(list)
}

func (m *callMaker) addObservations() *peerCall {
	list, names := []peerObject{}, []string{}
	for range 1 + m.r.IntN(2) {
		name := m.name()
		names = append(names, name)
		list = append(list, peerObject{"entityName": name, "contents": m.some(peerFacts, 3)})
	}
	c := peerTool("add_observations", peerObject{"observations": list})
	c.names = names
	return c
}

// relations returns some, and the names in them.
func (m *callMaker) relations() (list []peerObject, keys, names []string) {
	list = []peerObject{}
	for range m.r.IntN(4) {
		from, to, kind := m.name(), m.name(), m.of(peerKinds)
		key := strings.Join([]string{from, to, kind}, "\x00")
		if slices.Contains(keys, key) && !m.chance(10) {
			continue
		}
		keys, names = append(keys, key), append(names, from, to)
		list = append(list, peerObject{"from": from, "to": to, "relationType": kind})
		if m.chance(3) {
			keys, list = append(keys, key), append(list, list[len(list)-1])
		}
	}
	return list, keys, names
}

func (m *callMaker) relate() *peerCall {
	list, keys, names := m.relations()
	c := peerTool("create_relations", peerObject{"relations": list})
	c.names = names
	if repeats(keys) {
		c.differs = "two equal relations in one call are one relation"
	}
	return c
}

func (m *callMaker) deleteRelations() *peerCall {
	list, _, _ := m.relations()
	return peerTool("delete_relations", peerObject{"relations": list})
}

func (m *callMaker) deleteEntities() *peerCall {
	return peerTool("delete_entities", peerObject{"entityNames": m.namesOf(2)})
}

func (m *callMaker) deleteObservations() *peerCall {
	list := []peerObject{}
	for range m.r.IntN(3) {
		list = append(list, peerObject{"entityName": m.name(), "observations": m.some(peerFacts, 3)})
	}
	return peerTool("delete_observations", peerObject{"deletions": list})
}

func (m *callMaker) open() *peerCall {
	return peerTool("open_nodes", peerObject{"names": m.namesOf(4)})
}

func (m *callMaker) search() *peerCall {
	query := m.of(peerQueries)
	if m.chance(30) {
		letters := []rune(m.of(slices.Concat(peerNames, peerFacts, peerTypes)))
		from := m.r.IntN(len(letters) + 1)
		query = string(letters[from:min(len(letters), from+1+m.r.IntN(5))])
	}
	return peerTool("search_nodes", peerObject{"query": query})
}

// malformed returns a call whose arguments the schema of the tool rules out.
func (m *callMaker) malformed() *peerCall {
	odd := []any{nil, 1, 1.5, true, "text", []any{}, []any{nil}, []any{1, "a", true}, peerObject{}, []any{peerObject{}},
		[]any{peerObject{"name": 1, "from": nil, "entityName": []any{}}}, []any{peerObject{"name": "x", "entityType": "y", "observations": "z",
			"from": "a", "to": 2, "relationType": false, "entityName": "n", "contents": []any{1}}}}
	params := map[string]string{"create_entities": "entities", "create_relations": "relations", "add_observations": "observations",
		"delete_entities": "entityNames", "delete_observations": "deletions", "delete_relations": "relations",
		"search_nodes": "query", "open_nodes": "names"}
	tools := []string{"create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
		"delete_relations", "search_nodes", "open_nodes"}
	tool := m.of(tools)
	if m.chance(20) {
		return peerTool(tool, peerObject{})
	}
	value := odd[m.r.IntN(len(odd))]
	return peerTool(tool, peerObject{params[tool]: value})
}

// extra returns a call with a member that no schema names.
func (m *callMaker) extra() *peerCall {
	name := m.of(peerNames)
	calls := []*peerCall{
		peerTool("read_graph", peerObject{"limit": 3}),
		peerTool("search_nodes", peerObject{"query": m.of(peerQueries), "limit": 1}),
		peerTool("open_nodes", peerObject{"names": []string{name}, "depth": 2}),
		peerTool("create_entities", peerObject{"entities": []peerObject{{"name": name, "entityType": "x", "observations": []string{}, "id": 7}}}),
		peerTool("create_relations", peerObject{"relations": []peerObject{{"from": name, "to": name, "relationType": "is", "weight": 0.5}}, "strict": true}),
	}
	return calls[m.r.IntN(len(calls))]
}

func (m *callMaker) resource() *peerCall {
	if m.chance(20) {
		return &peerCall{method: "resources/list", params: "{}"}
	}
	return &peerCall{method: "resources/read", params: `{"uri":"memory://knowledge-graph"}`}
}

func (m *callMaker) subscription() *peerCall {
	method := "resources/subscribe"
	if m.chance(30) {
		method = "resources/unsubscribe"
	}
	return &peerCall{method: method, params: `{"uri":"memory://knowledge-graph"}`}
}
