// Package journal remembers what happened and what is still to be done about
// it, in one SQLite file that several processes share.
//
// # States
//
// An event is appended once and never changes. Unless it is a mere fact it has
// work:
//
//	Append → queued → dispatched → delivered
//	            ↑          │  └──→ failed (a dead letter) → queued again by a person
//	            └── Retry ─┘
//
// Claim takes the head of a lane in hand under a holder, a lease and a fence.
// The fence of an event rises by one with each claim and is named by every later
// statement, as is the term of the daemon: a ticket or a leader that was
// overtaken gets [ErrStale] and changes nothing, whatever it believes. Leases are
// measured with the boot clock. Each step is a row of its own (see [Step]).
//
// # Guarantees
//
//   - Accepted means durable: Append returns nil after a synced commit, and
//     after the files were seen to be still the files.
//   - One id, one event, for ever: a repeat gets the first receipt, another body
//     a Conflict, also when the event was archived long ago.
//   - Work, dead letters and counters are projections; [Journal.Verify] proves
//     that they are what history says and [Journal.Rebuild] makes them so. (Only
//     the count of suppressed duplicates is not history.)
//   - Damage is seen: both tables are chained by SHA-256, and journal.head, a file
//     of its own, names the last rows that were durable. A journal that does not
//     reach it (an older backup, a WAL that lost rows) refuses to open for
//     writing. AcceptHead is the deliberate way on.
//   - Flat: append, claim and the other steps touch no terminal row. Old history
//     moves to monthly files, where Get still finds it.
//
// # What happens on failure
//
// An error whose outcome is unknown (errkind.Unknown) may have happened: repeat
// an Append with the same id; ask Get about a ticket. On a full disk appends are
// refused while the disk reserve lets the steps of work in hand still be
// recorded. A process killed at any instant leaves nothing to repair: the next
// Open finds a journal that is whole. Work it had in hand is adopted by the next
// daemon, or claimed again when its lease has run out.
package journal
