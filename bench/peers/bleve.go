package main

import (
	"errors"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// lean is Bleve with words alone: no stored text, no positions, no columns. Its analyzer leaves function words out.
type lean struct{ index bleve.Index }

// openBleve has every batch on the disk before it returns, as scorch does by itself.
func openBleve(dir string) (engine, error) {
	body := bleve.NewTextFieldMapping()
	body.Analyzer = en.AnalyzerName
	body.Store, body.IncludeTermVectors, body.DocValues, body.IncludeInAll = false, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("body", body)
	mapping := bleve.NewIndexMapping()
	mapping.DefaultMapping = doc
	index, err := bleve.NewUsing(filepath.Join(dir, "bleve"), mapping, scorch.Name, scorch.Name, nil)
	return &lean{index}, err
}

func (l *lean) version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/blevesearch/bleve/v2" {
				return d.Version
			}
		}
	}
	return "of an unknown version"
}

const batchSize = 1000

func (l *lean) load(next func() (item, error)) error {
	batch := l.index.NewBatch()
	for {
		it, err := next()
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		if !end {
			if err := batch.Index(it.ID, map[string]string{"body": it.Text}); err != nil {
				return err
			}
		}
		if end || batch.Size() == batchSize {
			if err := l.index.Batch(batch); err != nil || end {
				return err
			}
			batch.Reset()
		}
	}
}

func (l *lean) save(it item) error { return l.index.Index(it.ID, map[string]string{"body": it.Text}) }

// search finds any of the words.
func (l *lean) search(words []string) ([]string, error) {
	query := bleve.NewMatchQuery(strings.Join(words, " "))
	query.SetField("body")
	res, err := l.index.Search(bleve.NewSearchRequestOptions(query, 10, 0, false))
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(res.Hits))
	for i, hit := range res.Hits {
		ids[i] = hit.ID
	}
	return ids, nil
}

func (l *lean) settle() error { return nil }
