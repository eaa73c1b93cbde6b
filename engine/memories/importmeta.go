package memories

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/stm"
)

// Fields of the specification "adaptive memory health" that a save does not have, so that an
// import of such a store left them in meta.
const (
	liftAccesses = "access_count"
	liftAccessed = "last_accessed_ts"
	liftVersion  = "embedding_version"
)

// MoveMeta moves the well-formed values for accesses and embeddings from a record's meta to set.
// Accesses are added to those since the import; of two access times the later one stays. A
// malformed value stays in meta. set gets the meta without the moved values, so that a second
// call finds none.
func MoveMeta(r *stm.Row, set map[string]json.RawMessage, now time.Time) {
	raw := r.Value("meta")
	if !mayLift(raw) {
		return
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(raw, &meta) != nil {
		return
	}
	before := len(meta)
	if n, ok := accessesOf(meta[liftAccesses]); ok {
		delete(meta, liftAccesses)
		if n > 0 {
			set[liftAccesses], _ = core.Encode(min(math.MaxUint32, r.StoredAccesses()+n)) // numbers always encode
		}
	}
	if at, ok := accessedOf(meta[liftAccessed], now); ok {
		delete(meta, liftAccessed)
		if at.After(r.LastAccessed()) {
			set[liftAccessed], _ = core.Encode(core.StampTime(at))
		}
	}
	if version, ok := versionOf(meta[liftVersion]); ok && !r.Has(liftVersion) {
		delete(meta, liftVersion)
		set[liftVersion], _ = core.Encode(version)
	}
	if len(meta) == before {
		return
	}
	left := json.RawMessage("null")
	if len(meta) > 0 {
		left, _ = core.Encode(meta) // it was JSON
	}
	set["meta"] = left
}

func mayLift(meta []byte) bool {
	for _, key := range []string{liftAccesses, liftAccessed, liftVersion} {
		if bytes.Contains(meta, []byte(`"`+key+`"`)) {
			return true
		}
	}
	return false
}

// accessesOf parses a count: a whole number from 0 to 2^32-1.
func accessesOf(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseUint(string(bytes.TrimSpace(raw)), 10, 32)
	return int64(n), err == nil
}

// accessedOf parses a time: seconds since 1970, or RFC 3339, at most a day in the future. Zero
// means never and is malformed.
func accessedOf(raw json.RawMessage, now time.Time) (at time.Time, ok bool) {
	var seconds float64
	if json.Unmarshal(raw, &seconds) == nil {
		if !(seconds > 0 && seconds < float64(now.Unix())+core.HoursOfADay*3600) {
			return at, false
		}
		return time.UnixMilli(int64(seconds * 1e3)).UTC(), true
	}
	if json.Unmarshal(raw, &at) != nil {
		return at, false
	}
	return at, at.After(time.UnixMilli(0)) && at.Before(now.Add(core.HoursOfADay*time.Hour))
}

// versionOf parses the name of a model.
func versionOf(raw json.RawMessage) (version string, ok bool) {
	if json.Unmarshal(raw, &version) != nil || strings.TrimSpace(version) == "" {
		return "", false
	}
	return version, core.CheckNames(core.Name{Field: liftVersion, Value: version}) == nil
}
