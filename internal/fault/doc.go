// Package fault proves what arkamsg promises about dying: nothing is lost,
// doubled, torn or merged, and no state lies, whatever is killed or stopped and
// when. It holds no program, only tests.
//
// # The experiment
//
// A stage is a private tmux server with stand-in agents, a scratch home on the
// real file system, and real processes: the built program as daemon, push and
// status, killed by SIGKILL at labels (package crash) and at random instants,
// or stopped by SIGSTOP. When the dust has settled, two witnesses that share no
// code are compared: the stand-ins' record of the bytes that reached them, and
// the journal.
//
//   - lost: the journal says delivered, the agent never had it, or work or a
//     file was never finished
//   - doubled: the agent got it twice
//   - torn: the agent got something that is not exactly one message
//   - merged: the agent got two messages as one
//   - lies: the journal's state contradicts the record, or never ended
//
// Order within a lane, an intact journal (as `journal verify` sees it), an
// unchanged set of tmux sessions and an empty outbox are demanded besides.
//
// # Two sizes
//
// In `make test` each scenario is a handful of messages, enough to notice that
// a fence fell. `make fault` (ARKA_LONG=1) repeats them until a rate can be
// named: zero failures in N tries bounds the true rate at about 3/N. It prints
// one table and the seed; ARKA_SEED=… repeats every choice that was made here,
// though not the scheduler's. ARKA_LONG=0.1 is a tenth of it.
//
// The program is built from the tree, with the race detector when the tests
// have it; ARKA_BIN names another binary to try instead.
package fault
