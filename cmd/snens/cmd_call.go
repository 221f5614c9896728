package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"snens/internal/escape"
	"snens/supervisor"
	"snens/supervisor/call"
	"snens/supervisor/config"
)

// callOptions are the options of snens call.
type callOptions struct {
	args     string
	hasArgs  bool
	cwd      string
	timeout  duration
	noStdin  bool
	statusFD int
}

func (a *app) callCommand() *cobra.Command {
	var o callOptions
	c := &cobra.Command{
		Use:   "call NAME [FIELD=VALUE ... | WORD ... | -- WORD ...]",
		Short: "call a tool and end with its exit status",
		Long: `call runs one tool as a supervised process tree. The tool's streams are those
of snens, and its exit status becomes that of snens.

A typed tool (snens tools NAME shows its fields) takes fields:

  f=text      the text as it is; it is turned toward the declared type
  f:=JSON     a JSON value
  f@=FILE     the content of a file
  f@=-        the content of stdin
  f=a f=b     a repeated field fills an array

Any other tool takes words, which it gets as they are. Words that begin with
"-" go behind "--". With a link tools/uname/uname -> /bin/uname, for one:

  snens call uname -- -a

With --args the whole argument object is given as JSON: the text itself, @FILE,
or - for stdin.

With --json the output is captured, and the result record is printed. The
tool then reads only what the arguments give it.

INT, TERM, HUP and QUIT end the tool's whole process tree; a second INT does so
at once. TSTP and CONT suspend and resume it together with snens. In the
background of a terminal, a tool whose description asks for stdin stops as any
job that reads, until it is fetched; every other begins with an empty stdin.`,
		Example: `  snens call wc-lines path=README.md no_empty=true
  snens call sysinfo sections=os sections=memory
  echo hello | snens call write path=hello.txt content@=-
  snens call grep --json --args '{"pattern": "snens", "paths": ["README.md"]}'
  snens call --timeout 5s read path=README.md limit=5; echo $?`,
		ValidArgsFunction: a.completeCall,
	}
	flags := c.Flags()
	flags.StringVar(&o.args, "args", "", "the whole argument object: `JSON`, @FILE or - for stdin")
	flags.StringVar(&o.cwd, "cwd", "", "start the tool in `DIR`")
	flags.Var(&o.timeout, "timeout", "end the tool after `DUR` (5s, 2m, or a number of seconds)")
	flags.BoolVarP(&o.noStdin, "no-stdin", "n", false, "give the tool an empty stdin")
	flags.IntVar(&o.statusFD, "status-fd", -1, "write one JSON line to descriptor `N` that tells our exit statuses from the tool's")
	flags.Lookup("status-fd").DefValue = "0" // help need not name a default
	_ = c.MarkFlagDirname("cwd")
	c.RunE = func(c *cobra.Command, args []string) error {
		o.hasArgs = c.Flags().Changed("args")
		return a.call(args, o, c.Flags().Changed("status-fd"))
	}
	return c
}

// call calls the tool that args begin with. What it returns has the status of
// the wrapper.
func (a *app) call(args []string, o callOptions, wantStatus bool) error {
	if len(args) == 0 {
		return failf(call.ExitOurs, "cannot call a tool: no name is given").
			withHint("snens tools lists them; then: snens call NAME ...")
	}
	var status *os.File
	if wantStatus {
		var err error
		if status, err = statusFile(o.statusFD); err != nil {
			return fail(call.ExitOurs, err)
		}
		defer status.Close()
	}
	watch, ctx := newWatch()
	record, err := a.callTool(ctx, watch, args[0], args[1:], o)
	watch.close()

	code, sig := record.ExitStatus(), watch.asked()
	if err == nil && !record.Cancelled {
		sig = 0 // it had ended by itself
	}
	if sig != 0 {
		code = call.ExitSignal + int(sig)
	}
	if status != nil {
		writeStatus(status, record, code)
	}
	if err := a.printRecord(record); err != nil {
		return fail(call.ExitOurs, err)
	}
	a.endBySignal(sig)
	switch {
	case err != nil && sig == 0:
		f := &failure{}
		errors.As(err, &f)
		return &failure{status: code, err: f.err, hint: f.hint}
	case code != 0:
		return &failure{status: code}
	}
	return nil
}

// callTool finds the tool, builds the request and waits for the end. The
// record is never nil; an error says in words why nothing was started.
func (a *app) callTool(ctx context.Context, w *watch, name string, words []string, o callOptions) (*call.Record, error) {
	notRun := func(class call.Class, status int, err error) (*call.Record, error) {
		f := asFailure(err)
		return a.neverStarted(name, class, status, o.cwd, f), f
	}
	sup, err := a.supervisor(nil)
	if err != nil {
		return notRun(call.ClassRefused, call.ExitOurs, err)
	}
	handle, err := sup.Tool(ctx, name)
	if err != nil {
		class, status := classOfMissing(err)
		return notRun(class, status, a.explainMissing(name, err))
	}
	a.noteSchema(handle.Tool)
	in := &input{ctx: ctx, stdin: a.stdin, limit: maxInput}
	request, err := a.request(handle, words, in, o)
	tty := request.Stdin // what the tool reads, if its description asks for input
	if !handle.NeedsStdin {
		tty = nil
	}
	switch {
	case err != nil || request.Stdin == nil:
	case tty != nil && !w.untilForeground(ctx, tty), tty == nil && background(request.Stdin):
		request.Stdin = nil
	}
	if in.used {
		w.settle()
	}
	if w.asked() != 0 {
		return notRun(call.ClassCancelled, call.ExitOurs, failf(0, "cannot call %s: a signal came before it was started", handle.Name))
	}
	if err != nil {
		return notRun(call.ClassRefused, call.ExitOurs, err)
	}
	running := sup.Start(context.WithoutCancel(ctx), request)
	w.runs(running, tty)
	record := running.Wait()
	a.remark(record)
	return record, nil
}

// request turns the command line into a request for one call.
func (a *app) request(handle *supervisor.Handle, words []string, in *input, o callOptions) (supervisor.Request, error) {
	request := supervisor.Request{Handle: handle, Cwd: o.cwd, Timeout: time.Duration(o.timeout), Pass: !a.json}
	if request.Pass {
		request.Stdout, request.Stderr = a.stdout, a.stderr
		// A typed tool reads what a field gives it, and arguments in JSON say
		// it all; the caller's stdin stays the caller's.
		if handle.Interface == nil && !o.hasArgs && !o.noStdin {
			request.Stdin = a.stdin
		}
	}
	switch {
	case o.hasArgs && len(words) > 0:
		return request, failf(0, "cannot take words beside --args, which is the whole argument object").
			withHint("put %q into the object, or leave --args out", words[0])
	case o.hasArgs:
		text, err := argsObject(o.args, in)
		if err != nil {
			return request, err
		}
		request.Args = text
	case handle.Interface != nil:
		object, err := handle.Interface.FromWords(words, in.read)
		if err != nil {
			return request, failf(0, "%s", cannotCall(string(handle.Name), err.Error())).
				withHint("%s", fieldsHint(handle, words))
		}
		request.Args = object
	default:
		request.Words = words
	}
	return request, nil
}

// argsObject is the text of --args: JSON itself, @FILE, or - for stdin.
func argsObject(value string, in *input) (json.RawMessage, error) {
	name, isFile := strings.CutPrefix(value, "@")
	if value == "-" {
		name, isFile = value, true
	}
	if !isFile {
		return json.RawMessage(value), nil
	}
	text, err := in.read(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read what --args names: %w", err)
	}
	return text, nil
}

// remark says on stderr what a plain call cannot show otherwise. A captured
// call has it all in its record.
func (a *app) remark(r *call.Record) {
	if a.json {
		return
	}
	// The reader of a pipe went away, and the tree is on its way out: whoever of
	// it has not noticed yet is no news.
	if r.SignalNumber == int(unix.SIGPIPE) && !r.TimedOut && !r.OOM {
		return
	}
	switch {
	case r.Message != "":
		a.complain(cannotCall(r.Tool, r.Message), r.Hint)
	case r.Class == call.ClassRefused, r.Class == call.ClassStart:
		a.complain(r.Content, "")
	case r.TimedOut:
		a.complain(fmt.Sprintf("%s: timed out; ended after %s", r.Tool, time.Duration(r.DurationMS)*time.Millisecond), "")
	case r.OOM:
		a.complain(fmt.Sprintf("%s: ended by the kernel: out of memory", r.Tool), "")
	}
	if n := len(r.Survivors); n > 0 {
		names := ""
		for i, s := range r.Survivors {
			if i == 3 && n > 4 {
				names += fmt.Sprintf(" and %d more", n-i)
				break
			}
			names += fmt.Sprintf(" %s (%d)", s.Name, s.PID)
		}
		if a.cfg.Survivors == config.SurvivorsLeave {
			fmt.Fprintf(a.notes, "snens: %s leaves processes running:%s\n", r.Tool, escape.Line(names))
			return
		}
		fmt.Fprintf(a.notes, "snens: %s left processes behind:%s; survivors = \"leave\" in snens.toml lets such live\n", r.Tool, escape.Line(names))
	}
}

// cannotCall is the message for a call that was not started; why may have one
// line for each field.
func cannotCall(name, why string) string {
	switch {
	case strings.HasPrefix(why, "cannot "):
		return why
	case strings.Contains(why, "\n"):
		return "cannot call " + name + ":\n" + why
	}
	return "cannot call " + name + ": " + why
}

// duration is a flag: Go's notation, or a plain number of seconds as timeout(1) has it.
type duration time.Duration

func (d *duration) Set(s string) error {
	t, err := time.ParseDuration(s)
	if err != nil {
		seconds, numberErr := strconv.ParseFloat(s, 64)
		if numberErr != nil || seconds != seconds || seconds > 1e9 {
			return errors.New("write it as 500ms, 5s, 2m, or as a number of seconds")
		}
		t = time.Duration(seconds * float64(time.Second))
	}
	if t <= 0 {
		return errors.New("it must be above zero")
	}
	*d = duration(t)
	return nil
}

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

func (d *duration) Type() string { return "DUR" }
