package discovery

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/supervisor/tool"
)

// The largest files that are read beside a tool.
const (
	helpFileCap = 64 << 10
	schemaCap   = 256 << 10
)

// readBeside reads a file that lies beside a tool: a regular one, whole, never
// waiting for a FIFO. As root it must be one that only root can change.
func (p *pass) readBeside(path string, limit int64) ([]byte, error) {
	if p.trust.active {
		return safefile.ReadTrusted(path, 0, limit)
	}
	return safefile.ReadFile(path, limit)
}

// helpFile reads help.txt. ok is false when there is none.
func (p *pass) helpFile(l sight) (desc tool.Description, cause string, ok bool) {
	path := l.folder() + "/help.txt"
	if l.help == (fileID{}) {
		if target, err := readlink(path); err == nil {
			return desc, causeRead("help.txt", errors.New(causeDangling(target))), true
		}
		return desc, "", false
	}
	if l.helpMode != 0 && l.helpMode&unix.S_IFMT != unix.S_IFREG {
		return desc, causeHelpFileOther, true
	}
	data, err := p.readBeside(path, helpFileCap)
	switch {
	case errors.Is(err, safefile.ErrTooBig):
		return desc, causeHelpFileBig, true
	case err != nil:
		return desc, besideCause("help.txt", err), true
	}
	desc, ok = Describe(string(data), tool.Name(l.name))
	if !ok {
		return desc, causeHelpFileEmpty, true
	}
	desc.Source = tool.SourceHelpFile
	return desc, "", true
}

// schemaFile reads schema.json: its content, or the reason why it is not used
// ("" when there is none). A cause sets the whole tool aside: somebody else
// could change what guards it.
func (p *pass) schemaFile(l sight) (schema []byte, reason, cause string) {
	path := l.folder() + "/schema.json"
	if l.schema == (fileID{}) {
		if target, err := readlink(path); err == nil {
			return nil, "schema.json is a " + causeDangling(target), ""
		}
		return nil, "", ""
	}
	if l.schemaMode != 0 && l.schemaMode&unix.S_IFMT != unix.S_IFREG {
		return nil, reasonSchemaOther, ""
	}
	data, err := p.readBeside(path, schemaCap)
	var untrusted *safefile.UntrustedError
	switch {
	case errors.As(err, &untrusted):
		return nil, "", trustCause(err)
	case errors.Is(err, safefile.ErrTooBig):
		return nil, reasonSchemaBig, ""
	case ofHere(err): // without it the tool would be taken, and remembered, for a generic one
		return nil, "", besideCause("schema.json", err)
	case err != nil:
		return nil, besideCause("schema.json", err), ""
	}
	if check := p.finder.opts.CheckSchema; check != nil {
		if err := check(data); err != nil {
			return nil, reasonSchemaBroken(err), ""
		}
	}
	return data, "", ""
}

// besideCause words an error of reading a file beside the tool.
func besideCause(file string, err error) string {
	var untrusted *safefile.UntrustedError
	var path *fs.PathError
	switch {
	case errors.As(err, &untrusted):
		return trustCause(err)
	case errors.As(err, &path):
		err = path.Err
	}
	return causeRead(file, err)
}
