// Package supervisor ties the parts together: configuration, discovery, typed
// interfaces, environment, session and call engine become "list the tools" and
// "call this one".
//
//	sup, err := supervisor.New(supervisor.Options{Config: cfg, Env: os.Environ(), Exe: exe})
//	listing, err := sup.Tools(ctx, false)
//	handle, err := sup.Tool(ctx, "grep")
//	record := sup.Start(ctx, supervisor.Request{Handle: handle, Args: args}).Wait()
//
// Start never fails: whatever goes wrong is a call.Record, since a model must
// get one result per call. New starts nothing and touches no file; the engine,
// the folder for state and the PATH folder are made when first needed.
//
// Printing is not done here, and text of tools is not escaped: whoever shows it
// on a terminal does that.
package supervisor
