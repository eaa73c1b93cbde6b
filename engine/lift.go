package engine

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"emberd/stm"
)

// The fields of the specification "adaptive memory health" that a save does not take, so
// that an import of such a store left them in meta.
const (
	liftAccesses = "access_count"
	liftAccessed = "last_accessed_ts"
	liftVersion  = "embedding_version"
)

// lifted takes out of a record's meta what it says of accesses and vectors, as far as that
// is well formed, and adds it to what is set. Accesses count beside those since the
// import; of two times of access the later one stays. What is not well formed stays where
// it is. The meta is written without what was taken, so that a second time finds nothing.
func lifted(r *stm.Row, set map[string]json.RawMessage, now time.Time) {
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
			set[liftAccesses], _ = encode(min(math.MaxUint32, r.StoredAccesses()+n)) // numbers always encode
		}
	}
	if at, ok := accessedOf(meta[liftAccessed], now); ok {
		delete(meta, liftAccessed)
		if at.After(r.LastAccessed()) {
			set[liftAccessed], _ = encode(stampTime(at))
		}
	}
	if version, ok := versionOf(meta[liftVersion]); ok && !r.Has(liftVersion) {
		delete(meta, liftVersion)
		set[liftVersion], _ = encode(version)
	}
	if len(meta) == before {
		return
	}
	left := json.RawMessage("null")
	if len(meta) > 0 {
		left, _ = encode(meta) // it was JSON
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

// accessesOf reads a count, which is a whole number from 0 to 2^32-1.
func accessesOf(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseUint(string(bytes.TrimSpace(raw)), 10, 32)
	return int64(n), err == nil
}

// accessedOf reads a time, which is a number of seconds since 1970, or RFC 3339, and not in
// the future by more than a day. Zero stands for never, and is not well formed.
func accessedOf(raw json.RawMessage, now time.Time) (at time.Time, ok bool) {
	var seconds float64
	if json.Unmarshal(raw, &seconds) == nil {
		if !(seconds > 0 && seconds < float64(now.Unix())+hoursOfADay*3600) {
			return at, false
		}
		return time.UnixMilli(int64(seconds * 1e3)).UTC(), true
	}
	if json.Unmarshal(raw, &at) != nil {
		return at, false
	}
	return at, at.After(time.UnixMilli(0)) && at.Before(now.Add(hoursOfADay*time.Hour))
}

// versionOf reads the name of a model.
func versionOf(raw json.RawMessage) (version string, ok bool) {
	if json.Unmarshal(raw, &version) != nil || strings.TrimSpace(version) == "" {
		return "", false
	}
	return version, checkNames(name{liftVersion, version}) == nil
}
