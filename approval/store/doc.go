// Package store keeps on the disk what the queue must still know after its
// process died: one file for each request, in a folder that is ours alone.
//
//	d, err := store.Open(folder)      // takes the folder's lock
//	found, faults, err := d.Load()    // once, at the start
//	err = d.Save(record, durable)     // replaces the request's file, whole
//	err = d.Remove(id)
//
// Every write is atomic: a file has the old content or the new one. With durable
// set the content also survives a power cut when Save returns; without, it
// survives the death of the process, which is what a request needs that ends
// with its requester anyway.
//
// A file that cannot be read is set aside under another name and reported; it
// never becomes a request. What a state means at the start is the queue's
// business: here nothing is judged.
package store
