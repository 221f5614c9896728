package discovery

import (
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"snens/supervisor/tool"
)

func sampleEntries() []entry {
	return []entry{
		{
			path: "/t/a/a", scope: "0\x00v1\x00LANG=C", link: "../x", target: fileID{1, 2, 3, -4, 5},
			schemaID: fileID{6, 7, 8, 9, 10}, interp: "/bin/sh", env: "dash", interpID: fileID{ino: ^uint64(0)}, written: -1,
			desc:   tool.Description{Essence: "a — я", Usage: "a stdin", Source: tool.SourceComments, NeedsStdin: true},
			schema: "{\n}", schemaNote: "",
		},
		{path: "/t/b/b", cause: "--help printed nothing", written: 1 << 62, schemaNote: strings.Repeat("x", 200)},
		{path: "/" + strings.Repeat("p", 70_000), desc: tool.Description{Essence: "e", Source: tool.SourceHelp}},
	}
}

func TestTheCacheComesBack(t *testing.T) {
	want := sampleEntries()
	got, err := decodeCache(encodeCache(want))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := decodeCache(encodeCache(nil)); err != nil || len(got) != 0 {
		t.Errorf("an empty cache: %v, %v", got, err)
	}
}

func TestEveryDamageIsNoticed(t *testing.T) {
	good := encodeCache(sampleEntries()[:2])
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x10
		if _, err := decodeCache(bad); err == nil {
			t.Fatalf("byte %d changed unnoticed", i)
		}
		if _, err := decodeCache(good[:i]); err == nil {
			t.Fatalf("cut to %d bytes unnoticed", i)
		}
	}
	if _, err := decodeCache(append(good, 0)); err == nil {
		t.Error("a byte more unnoticed")
	}
}

func TestUnsoundEntriesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(e *entry){
		"relative path":        func(e *entry) { e.path = "a/a" },
		"no path":              func(e *entry) { e.path = "" },
		"neither text":         func(e *entry) { e.desc.Essence, e.cause = "", "" },
		"unknown source":       func(e *entry) { e.desc.Source = "hearsay" },
		"essence of two lines": func(e *entry) { e.desc.Essence = "a\nb" },
		"usage of two lines":   func(e *entry) { e.desc.Usage = "a\nb" },
		"cause of two lines":   func(e *entry) { e.cause = "a\nb" },
		"note of two lines":    func(e *entry) { e.schemaNote = "a\rb" },
	} {
		e := sampleEntries()[0]
		spoil(&e)
		if _, err := decodeCache(encodeCache([]entry{e})); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzDecodeCache(f *testing.F) {
	f.Add(encodeCache(sampleEntries()[:2])[len(cacheMagic):])
	f.Add([]byte{})
	f.Add([]byte{0x80, 0x00})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = decodeCache(body)
		// Behind a right checksum: what is accepted must print back the same.
		data := append([]byte(cacheMagic), body...)
		data = binary.LittleEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
		entries, err := decodeCache(data)
		if err != nil {
			return
		}
		if again := encodeCache(entries); !reflect.DeepEqual(again, data) {
			t.Errorf("%q\nprints back as\n%q", data, again)
		}
	})
}
