// Package config is arka.yaml: what it may say, what it means when it says
// nothing, and where the home that holds it is.
//
// # Life of a value
//
// Every value starts in [Default], the one place that knows what silence means.
// [Parse] lays the file over it, strictly: an unknown key is a typing error and
// refused, and so is a duplicate one. [File.Validate] then looks at the whole
// and lists everything that is wrong at once; Parse adds the line to each. What
// comes out has been checked, patterns of provider profiles included
// ([arkamsg/sessions.Profiles]), so that nobody below asks again. A [File] is not
// changed after that: a reload makes a new one, and when the new one is refused
// the daemon keeps the old.
//
// # What is refused on purpose
//
// policy.attach_only has one value, true, and policy.on_missing_session has
// one, block (ARKA §11). They stand in the file so that a person who reads it
// sees the promise, and so that somebody who tries to loosen it is told no.
//
// http.listen is a loopback address or nothing. There is no switch for more:
// whoever reaches the port may ask for text to be typed into panes, so another
// machine comes in through ssh -L or a proxy that its owner chose to run.
//
// The file itself is refused when somebody else owns it or everybody may write
// it. The home is looked for in parent folders, and an arka.yaml planted in
// /tmp must not decide which sessions are typed into.
//
// # Limits
//
// The file is bounded before it is parsed (256 KiB, 20,000 nodes), opened
// without following links, and must be regular. A missing file is
// errkind.NotFound with the command that writes one; everything wrong inside is
// errkind.Invalid with all problems, each with field and line.
//
// [Render] writes the commented file of `arkamsg init`. A test parses what it
// writes for the defaults and compares it with [Default] value by value, so the
// sample people learn from cannot drift from what the program does.
package config
