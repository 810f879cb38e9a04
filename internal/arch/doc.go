// Package arch keeps the shape of arkamsg true. It holds no program, only tests
// that read the source as text.
//
// The picture in the design has floors: a door stands on the daemon, the daemon
// on the keepers, the keepers on plumbing. An import that points upwards or
// sideways is a decision that somebody took without saying so. rooms_test.go
// holds the floors with the reason for each; owners_test.go says which package
// may hold a third-party module, or a part of the standard library that can do
// harm; shape_test.go holds the habits that rot unnoticed: essays that are not
// written, drawers that fill, files that grow, tests that sleep, fuzz targets
// without seeds. runbook_test.go lays the program's words beside the manual's.
//
// The tests open every file through os rather than asking the go command, so
// that the test cache notices when one changes. A package or module they have
// never heard of fails until somebody gives it a place, with a reason: that is
// the moment to think, and the failure says where to write it down.
package arch
