// Package bootclock tells the time since the machine started, which nobody can
// set, and names that start.
//
// Deadlines between processes are kept on this clock: the wall clock jumps when
// a person or NTP sets it, and a jump must neither end a living lease nor
// prolong a dead one. The clock goes on while the machine sleeps. Two readings
// can be compared only within one boot, so a deadline is stored together with
// the boot's [ID]; a deadline of another boot has passed.
package bootclock
