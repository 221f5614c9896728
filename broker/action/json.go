package action

import (
	"math"

	"snens/internal/fields"
	"snens/internal/strictjson"
)

// jsonOptions bound the JSON form: more than any request of MaxText takes.
var jsonOptions = strictjson.Options{MaxBytes: 256 << 10, MaxDepth: 8, MaxTokens: 20_000}

// Value is the JSON form of the request, for approvers' clients and records.
// Texts that are not UTF-8 are {"base64": "..."}.
func (s *Sealed) Value() strictjson.Value {
	r := &s.request
	id := func(g GID) strictjson.Value { return fields.Uint(g) }
	return fields.Object(
		fields.Member("version", fields.Int(1)),
		fields.Member("argv", fields.List(r.Argv, fields.Text)),
		fields.Member("executable", fileValue(r.Executable)),
		fields.Member("interpreters", fields.List(r.Interpreters, fileValue)),
		fields.Member("opened", fields.List(r.Opened, openedValue)),
		fields.Member("cwd", fields.Text(r.Cwd)),
		fields.Member("env", fields.List(r.Env, func(v Var) strictjson.Value { return fields.Text(v.Name + "=" + v.Value) })),
		fields.Member("run_as", fields.Object(
			fields.Member("uid", fields.Uint(r.RunAs.UID)),
			fields.Member("user", fields.Text(r.RunAs.User)),
			fields.Member("gid", fields.Uint(r.RunAs.GID)),
			fields.Member("group", fields.Text(r.RunAs.Group)),
			fields.Member("groups", fields.List(r.RunAs.Groups, id)),
		)),
		fields.Member("umask", fields.Text(umaskText(r.Umask))),
		fields.Member("timeout", fields.Text(FormatDuration(r.Timeout))),
		fields.Member("limits", limitsJSON(r.Limits)),
		fields.Member("modes", fields.List(r.Modes.set(), fields.Text)),
		fields.Member("stdin", stdinJSON(r.Stdin)),
		fields.Member("requester", fields.Object(
			fields.Member("uid", fields.Uint(r.Requester.UID)),
			fields.Member("gid", fields.Uint(r.Requester.GID)),
			fields.Member("groups", fields.List(r.Requester.Groups, id)),
		)),
		fields.Member("rule", fields.Text(string(r.Rule))),
		fields.Member("rule_digest", fields.Text(r.RuleDigest.String())),
		fields.Member("expires", fields.Text(r.Expires.Format(timeForm))),
		fields.Member("nonce", fields.Text(r.Nonce.String())),
		fields.Member("install", fields.Text(r.Install.String())),
	)
}

func fileValue(f File) strictjson.Value {
	return fields.Object(
		fields.Member("path", fields.Text(f.Path)),
		fields.Member("device", fields.Uint(f.Device)),
		fields.Member("inode", fields.Uint(f.Inode)),
		fields.Member("sha256", fields.Text(f.SHA256.String())),
	)
}

func openedValue(f OpenedFile) strictjson.Value {
	return fields.Object(
		fields.Member("descriptor", fields.Uint(f.Descriptor)),
		fields.Member("path", fields.Text(f.Path)),
		fields.Member("device", fields.Uint(f.Device)),
		fields.Member("inode", fields.Uint(f.Inode)),
	)
}

// limitsJSON has the same texts as the review text, as strings.
func limitsJSON(l Limits) strictjson.Value {
	out := fields.Object()
	for _, v := range l.set() {
		out.Members = append(out.Members, fields.Member(v.name, fields.Text(v.text)))
	}
	return out
}

func stdinJSON(in Stdin) strictjson.Value {
	out := fields.Object(fields.Member("mode", fields.Text(in.Mode.String())))
	if in.Mode == StdinSealed {
		out.Members = append(out.Members,
			fields.Member("content", fields.Text(in.Content)),
			fields.Member("sha256", fields.Text(DigestOf(in.Content).String())))
	}
	return out
}

// JSON is Value as bytes on one line, without a line end.
func (s *Sealed) JSON() []byte {
	v := s.Value()
	return v.JSON()
}

// MarshalJSON is JSON, so that encoding/json can carry a request.
func (s *Sealed) MarshalJSON() ([]byte, error) { return s.JSON(), nil }

// DecodeJSON reads what JSON writes and seals it. Names are exact, unknown
// ones, other spellings of numbers and texts, and whatever Seal refuses are
// errors. White space and the order of members do not matter.
func DecodeJSON(data []byte) (*Sealed, error) {
	return finish(fields.Parse(data, "request", jsonOptions))
}

// DecodeValue is DecodeJSON for a part of a larger message.
func DecodeValue(v *strictjson.Value) (*Sealed, error) {
	return finish(fields.Of(v, "request"))
}

func finish(o *fields.Reader) (*Sealed, error) {
	r := readRequest(o)
	if err := o.Close(); err != nil {
		return nil, err
	}
	return Seal(r)
}

func readRequest(o *fields.Reader) (r Request) {
	if o.Field("version").Uint(math.MaxUint32) != 1 {
		o.Failf("the only version is 1")
	}
	r.Argv = o.Field("argv").Texts(MaxItems)
	r.Executable = readFile(o.Field("executable"))
	for _, f := range o.Field("interpreters").Items(maxFiles) {
		r.Interpreters = append(r.Interpreters, readFile(f))
	}
	for _, f := range o.Field("opened").Items(maxFiles) {
		r.Opened = append(r.Opened, readOpened(f))
	}
	r.Cwd = o.Field("cwd").Text()
	for _, f := range o.Field("env").Items(MaxItems) {
		r.Env = append(r.Env, readVar(f))
	}
	as := o.Field("run_as").Object()
	r.RunAs = RunAs{
		UID: readUID(as.Field("uid")), User: as.Field("user").Text(),
		GID: readGID(as.Field("gid")), Group: as.Field("group").Text(),
		Groups: readGIDs(as.Field("groups")),
	}
	r.Umask = fields.Word(o.Field("umask"), parseUmask)
	r.Timeout = fields.Word(o.Field("timeout"), ParseDuration)
	r.Limits = readLimits(o.Field("limits").Object())
	r.Modes = readModes(o.Field("modes"))
	r.Stdin = readStdin(o.Field("stdin").Object())
	who := o.Field("requester").Object()
	r.Requester = Requester{UID: readUID(who.Field("uid")), GID: readGID(who.Field("gid")), Groups: readGIDs(who.Field("groups"))}
	r.Rule = fields.Word(o.Field("rule"), ParseRuleID)
	r.RuleDigest = fields.Word(o.Field("rule_digest"), ParseDigest)
	r.Expires = fields.Word(o.Field("expires"), parseTime)
	r.Nonce = fields.Word(o.Field("nonce"), ParseNonce)
	r.Install = fields.Word(o.Field("install"), ParseInstallID)
	return r
}

func readUID(f fields.Field) UID { return UID(f.Uint(NoID - 1)) }
func readGID(f fields.Field) GID { return GID(f.Uint(NoID - 1)) }

func readGIDs(f fields.Field) (gids []GID) {
	for _, item := range f.Items(MaxItems) {
		gids = append(gids, readGID(item))
	}
	return gids
}

func readFile(f fields.Field) File {
	o := f.Object()
	return File{
		Path:   o.Field("path").Text(),
		Device: o.Field("device").Uint(math.MaxUint64),
		Inode:  o.Field("inode").Uint(math.MaxUint64),
		SHA256: fields.Word(o.Field("sha256"), ParseDigest),
	}
}

func readOpened(f fields.Field) OpenedFile {
	o := f.Object()
	return OpenedFile{
		Descriptor: uint8(o.Field("descriptor").Uint(math.MaxUint8)),
		Path:       o.Field("path").Text(),
		Device:     o.Field("device").Uint(math.MaxUint64),
		Inode:      o.Field("inode").Uint(math.MaxUint64),
	}
}
