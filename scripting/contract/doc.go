// Package contract is what the functions of a script mean: how run of a script
// tool is called and what its answer says.
//
//	function run(args, config) { return { content: "...", success: true }; }
//
// The answer is an object (content, success, error, visual, data; every field
// may be missing) or a string. An exception, a limit, a promise that rejects:
// all become a Result with Success false, because a tool that failed is a
// result for who asked, not a fault of ours.
package contract
