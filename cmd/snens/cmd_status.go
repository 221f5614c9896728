package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"snens/internal/escape"
	"snens/supervisor/tool"
)

// maxFolders is how many tools folders the status shows: it has to stay short.
const maxFolders = 7

// folder is a tools folder as the status shows it.
type folder struct {
	Path  string `json:"path"`
	Tools *int   `json:"tools"` // entries that could be tools; null when it cannot be read
	Error string `json:"error,omitempty"`
}

// status is what snens alone prints: what is configured. It starts nothing.
func (a *app) status() error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	folders := []folder{}
	for _, dir := range cfg.ToolsDir {
		folders = append(folders, lookInto(dir))
	}
	broker := a.broker()
	waiting := a.approvalsWaiting()
	if a.json {
		return a.printJSON(map[string]any{
			"version": version, "config": orNil(cfg.Path), "tools_dir": folders,
			"sessions_dir": cfg.SessionsDir, "broker": broker, "approvals_waiting": waiting,
		})
	}

	source := cfg.Path
	if source == "" {
		source = "none; the defaults are used"
	}
	fmt.Fprintf(a.out, "%s %s\n", a.style.strong("snens"), version)
	rows := []row{{cells: []string{"config", escape.Line(source)}}}
	for i, f := range folders {
		if i == maxFolders {
			rows = append(rows, row{cells: []string{"", fmt.Sprintf("and %d more folders", len(folders)-i)}})
			break
		}
		label := ""
		if i == 0 {
			label = "tools"
		}
		rows = append(rows, row{cells: []string{label, escape.Line(f.Path) + ": " + f.words()}})
	}
	rows = append(rows, row{cells: []string{"broker", escape.Line(a.brokerWords(broker))}})
	a.style.table(a.out, rows)
	if waiting != nil && *waiting > 0 {
		fmt.Fprintf(a.out, "approvals waiting for you: %d (snens approve)\n", *waiting)
	}
	fmt.Fprint(a.out, `
  snens tools                        what there is
  snens call NAME FIELD=VALUE ...    call a typed tool
  snens call NAME -- WORD ...        call any other tool
  snens new tool NAME                begin a tool
  snens doctor                       what this machine can and cannot do
`)
	return nil
}

// brokerWords says in a line whether there is a broker. Where nobody named a
// socket and nobody listens, there is nothing to mend.
func (a *app) brokerWords(s brokerState) string {
	_, err := os.Lstat(s.Socket)
	named := a.getenv("SNENS_PRIV") != "" || a.cfg != nil && a.cfg.Priv.Socket != ""
	if !s.Reachable && !named && errors.Is(err, fs.ErrNotExist) {
		return "none: no tool needs one (snens-priv, for commands of root's)"
	}
	return s.Text
}

// lookInto counts what could be tools in a folder, without looking at any.
func lookInto(dir string) folder {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return folder{Path: dir, Error: "not there"}
	}
	if err != nil {
		return folder{Path: dir, Error: "cannot be read"}
	}
	n := 0
	for _, e := range entries {
		if _, err := tool.ParseName(e.Name()); err != nil {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
			n++
		}
	}
	return folder{Path: dir, Tools: &n}
}

func (f folder) words() string {
	switch {
	case f.Tools == nil:
		return f.Error
	case *f.Tools == 1:
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", *f.Tools)
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
