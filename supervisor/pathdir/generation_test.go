package pathdir

import (
	"os"
	"reflect"
	"testing"

	"snens/supervisor/tool"
)

func TestContentComesBack(t *testing.T) {
	g := generation{
		tools:   []tool.Ref{{Name: "a", Path: "/with space\nand \"line\"/a"}, {Name: "b-2", Path: "/\xff/b"}},
		skipped: []Skipped{{Name: "b-2", Command: "/usr/bin/b-2"}},
	}
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/bin", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := g.write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir + "/content")
	if err != nil {
		t.Fatal(err)
	}
	tools, skipped, err := parseContent(string(text))
	if err != nil || !reflect.DeepEqual(tools, g.tools) || !reflect.DeepEqual(skipped, g.skipped) {
		t.Errorf("got %v, %v, %v", tools, skipped, err)
	}
}

func FuzzParseContent(f *testing.F) {
	for _, seed := range []string{
		"", "tool a \"/x/a/a\"\n", "skip a \"/bin/a\"\n", "tool a /x\n", "tool run \"/x\"\n", "tool a \"x\"\n", "tool", "tool a \"\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tools, skipped, err := parseContent(text)
		if err != nil {
			return
		}
		for _, r := range tools {
			if _, err := tool.ParseName(string(r.Name)); err != nil || r.Path[0] != '/' {
				t.Errorf("accepted %+v", r)
			}
		}
		for _, s := range skipped {
			if _, err := tool.ParseName(string(s.Name)); err != nil || s.Command[0] != '/' {
				t.Errorf("accepted %+v", s)
			}
		}
	})
}
