// Package sessions types one message into an agent's tmux pane: once, whole,
// into the right pane and no other, and shows that it arrived or says that it
// does not know. It implements DESIGN §5 on the facts of tmux 3.3a that the
// tests of this package measure again.
//
// # The order of things
//
// resolve → pin → gate → paste → settle → submit → prove. [Directory] resolves
// an envelope to an allow-listed session name; [Server.Pin] turns the name into
// a [Target] of ids; [Server.Deliver] does the rest and returns an [Outcome].
// Recording it is the caller's business; after that, [Server.Forget].
//
// Deliver holds no state between calls. Everything it must know is read from the
// pane first, so it makes no difference whether the call before was in this
// process, in one that was killed, or in another daemon:
//
//	mark of the message   what is done
//	(none)                gate; paste and set "p" in one server-side command
//	p                     composer shows exactly our text: Enter and set "s1"
//	s1, s2 …              prove; text evidently still there: Enter, "s2" …
//
// # The fence
//
// A time-out, a kill or a pause can separate us from what tmux does for us: a
// killed client's command may run seconds later (TMUX 22). So nothing relies on
// our knowing. Every deed is one `if-shell -F`, which the server evaluates and
// runs without letting anything in between; its condition holds
//
//   - the pin: server pid and start time, session, pane, the pane's pid. A
//     recycled id, a restarted server or a respawned pane is somebody else;
//   - the pane takes input: alive (a paste into a dead pane takes the server
//     down, TMUX 7), in no mode, input on, not synchronised;
//   - nothing moved since we looked: the cursor's place and, when its name can
//     stand in a tmux format, the foreground program. A keystroke of a person
//     between look and deed therefore refuses it;
//   - the message's mark is exactly the step before this one;
//   - for a paste, the pane's token (highest claim that ever pasted here) is
//     smaller than ours.
//
// The marks are user options of the pane: @arkamsg_J is the token and
// @arkamsg_J_E the step of event E, J being the journal's id. The branch that
// acts also sets them. Whoever comes late, a zombie daemon, a client that was
// thought dead, a retry after an unknown outcome, is refused by the pane
// whatever it believes. Two facts make both marks necessary: the step protects
// a message against itself for as long as it is unrecorded, at any number of
// messages in flight; the token protects it after Forget, because claims rise
// over the whole journal and a holder from before has a smaller one.
//
// A third mark, @arkamsg_typing, stands from a paste to its Enter whoever pasted:
// the condition compares it with what the look saw, so that two journals which
// share a pane do not paste into one composer before it is drawn.
//
// The printed answer decides, never the exit code: a missing target runs the
// other branch with exit 0 (TMUX 23). No answer means unknown, and the next call
// reads the mark.
//
// # The gate
//
// A paste needs: the program that the [Profile] expects (a shell never, unless
// listed: each line would be executed), no dialog (an Enter would answer it), no
// turn under way, and a composer that the profile knows, with nothing typed in
// it. Dim text is a suggestion, not a draft. What is not understood waits;
// waiting is no attempt and has a [Reason]. Only a dead pane, a wrong program
// and a missing session are [Blocked].
//
// pane_current_command is the first word of the foreground process group's
// leader: a script `sh -c 'agent; …'` shows as "sh" although the agent reads the
// terminal, one that execs the agent shows as the agent. The former is refused;
// a profile that wants it lists "sh" in programs.
//
// # Between paste and Enter
//
// The text is pasted in a bracketed frame from a private buffer, loaded through
// standard input and its size verified; no byte of it is ever an argument, a
// name or a format. It was checked again at this door, so it cannot leave the
// frame. After the profile's settle time the composer must show exactly our text
// (white space aside, since it wraps) or the agent's placeholder for it. With
// somebody's words beside it we wait: a merged line is worse than a late one.
// Never shown, or removed by hand: not submitted, indeterminate.
//
// # Outcomes
//
// Delivered needs the profile's proof. [Indeterminate] means that text was typed
// and its fate cannot be shown; it is never typed again by itself, because the
// mark stays. A person who knows better calls Forget, then a new claim types it.
// [NotSubmitted] means that the Enter is swallowed; the next call presses Enter
// only. [Waiting] is for as long as it takes.
//
// If the tmux server dies, its marks die with it, and so do the panes and
// whatever was in them. Deliver says indeterminate when it had typed in the same
// call or finds that it cannot know; a caller that saw Outcome.Typed and then
// pins another pane (see [Target.SamePane]) must say the same.
//
// # Attach-only
//
// tmux is reached by one-shot clients, each in a process group of its own with a
// deadline; none is left behind, and a stuck server costs a call its deadline.
// The list of tmux subcommands is closed ([Verbs]): nothing here creates,
// renames, resizes, kills or re-modes anything. The test suite records what was
// issued and compares.
package sessions
