package wire

import "testing"

func TestLoneSurrogate(t *testing.T) {
	for text, want := range map[string]int{
		`"a"`: -1, `"\ud83d\ude00"`: -1, `"\\ud83d"`: -1, `"\\\ud83d"`: 3, `"\ud83d"`: 1, `"\ude00\ud83d"`: 1,
		`"\ud83d\ud83d\ude00"`: 1, `"\u0041\uDE00"`: 7, `"\ud83d\n"`: 1, `\`: -1, `\u`: -1, `\ud83`: -1, `"\n\"\ud83d\ude0`: 5,
	} {
		if got := loneSurrogate([]byte(text)); got != want {
			t.Errorf("loneSurrogate(%s) = %d, want %d", text, got, want)
		}
	}
}

func TestMarshalLeavesHTMLAsItIs(t *testing.T) {
	got, err := Marshal(map[string]string{"<b>": "a & b"})
	if want := `{"<b>":"a & b"}`; err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v, want %s", got, err, want)
	}
	if got, err := Marshal(func() {}); err == nil {
		t.Errorf("Marshal of a function = %s, want an error", got)
	}
}
