// Package discovery finds tools: it lists the tools folders, reads what each
// tool says about itself, sets the broken ones aside with a true cause, and
// remembers the answers.
//
// A tool is FOLDER/NAME/NAME, an executable file or a link to one. Beside it may
// lie schema.json (its typed interface) and help.txt (its description).
//
//	f := discovery.New(discovery.Options{Dirs: dirs, CacheDir: cache, Prober: p})
//	list, err := f.All(ctx, discovery.Cached) // every tool; runs --help of unknown ones
//	found, err := f.One(ctx, "grep")          // this tool alone
//	refs := f.Cheap()                         // names and places; runs nothing
//
// Only a Prober runs programs, and only for a description that is neither in
// help.txt nor in the head of a script. Everything before that is static: links,
// file type, mode, mount, shebang, ELF header and, for root, who could change
// the program.
//
// A name in several folders means the first healthy one. The others are
// reported: as quarantined when they are broken, as shadowed when they come
// later. A broken tool never hides another.
//
// The cache is one file that only its owner can write. It never decides what
// is run: a lost, damaged or foreign cache costs time, nothing else.
//
// Texts of tools are cut to single lines but not escaped: whoever shows them
// on a terminal does that. Calling tools is supervisor/engine; reading their
// schema is supervisor/xsnens.
package discovery
